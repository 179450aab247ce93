# mjbot in a container: a server by default, or any command.  How it is built and run: docs/howto/container.md
FROM python:3.13-slim AS build
WORKDIR /source
COPY . .
RUN python -m venv /opt/mjbot && /opt/mjbot/bin/pip install --no-cache-dir .

FROM python:3.13-slim
RUN useradd --system --uid 10001 --create-home --home-dir /var/lib/mjbot mjbot \
    && install --directory --owner=mjbot --mode=0700 /var/cache/mjbot
COPY --from=build /opt/mjbot /opt/mjbot
# MJBOT_HEALTH: the port and path that the health check asks; of `mjbot run` it is that of metrics_port.
ENV PATH=/opt/mjbot/bin:$PATH \
    MJBOT_CACHE=/var/cache/mjbot \
    MJBOT_HEALTH=11680/tables
USER 10001
WORKDIR /var/lib/mjbot
VOLUME ["/var/lib/mjbot", "/var/cache/mjbot"]
EXPOSE 11600 11601
# A first start compiles for some minutes where the volume of the cache is empty.
HEALTHCHECK --interval=30s --timeout=5s --start-period=10m \
    CMD ["python", "-c", "import http.client, os; port, path = os.environ['MJBOT_HEALTH'].split('/', 1); server = http.client.HTTPConnection('127.0.0.1', int(port), timeout=4); server.request('GET', '/' + path); raise SystemExit(server.getresponse().status != 200)"]
# SIGTERM: running games end first, no further game begins.
STOPSIGNAL SIGTERM
ENTRYPOINT ["mjbot"]
CMD ["serve", "--host", "0.0.0.0", "--allow-remote", "--tables-port", "11680", "--log-dir", "games", "--games", "1000000"]
