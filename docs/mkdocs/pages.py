"""``python docs/mkdocs/pages.py``: the documentation as finished Markdown in ``build/docs``.

Written are the pages of ``docs/`` with the command reference, from the parsers, and the tables that
pages mark; the pages of the repository's root that belong to the site; and the pictures.  The
configuration of the site is copied next to them, so that a site tool finds all within one folder.
"""

import argparse
import posixpath
import re
import shutil
from pathlib import Path
from typing import Final

from mjbot.cli import check, profile
from mjbot.cli.commands import GROUPS, Command
from mjbot.cli.main import declare_command
from mjbot.cli.run import RunRequest

ROOT: Final = Path(__file__).parents[2]
DOCS: Final = ROOT / "docs"
TOOL: Final = "mkdocs"
"""The folder of ``docs/`` that holds no pages: the site tool's configuration, and this."""
COMMANDS_PAGE: Final = "reference/commands.md"
FROM_ROOT: Final = {
    "changelog.md": "CHANGELOG.md",
    "contributing.md": "CONTRIBUTING.md",
    "security-reports.md": "SECURITY.md",
}
"""Pages of the site that are files of the repository's root."""

TABLES: Final = {
    "<!-- checks -->": check.table,
    "<!-- keys -->": lambda: profile.table(RunRequest),
}
"""By its mark on a page: a table, from its declaration in mjbot."""

_LINK: Final = re.compile(r"\[([^\]]*)\]\(([^)#\s:]+)(#[^)]*)?\)")


def command_reference() -> str:
    """Return the reference of all commands as Markdown, in the order of ``mjbot help``."""
    parts = []
    for title, group in GROUPS.items():
        parts.append(f"## {title[0].upper()}{title[1:]}")
        parts += [_command(name, command) for name, command in group.items()]
    return "\n\n".join(parts)


def _command(name: str, command: Command) -> str:
    parser = argparse.ArgumentParser(
        prog=f"mjbot {name}", formatter_class=argparse.RawDescriptionHelpFormatter
    )
    declare_command(name, parser)
    parts = [f"### mjbot {name}", f"{command.summary[0].upper()}{command.summary[1:]}."]
    if command.page.startswith("docs/"):
        page = command.page.removeprefix("docs/")
        title = (ROOT / command.page).read_text(encoding="utf-8").partition("\n")[0].lstrip("# ")
        target = posixpath.relpath(page, posixpath.dirname(COMMANDS_PAGE))
        parts.append(f"See [{title}]({target}).")
    parts.append("```\n" + "\n".join(command.examples) + "\n```")
    parts += _subcommands(parser) or [_arguments(parser)]
    if parser.epilog:
        parts.append(f"```\n{parser.epilog}\n```")
    return "\n\n".join(part for part in parts if part)


def _subcommands(parser: argparse.ArgumentParser) -> list[str]:
    parts = []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            helps = {choice.dest: choice.help for choice in action._choices_actions}
            for name, child in action.choices.items():
                parts.append(f"#### {child.prog}")
                parts.append((helps.get(name) or child.description or "").strip())
                parts.append(_arguments(child))
    return parts


def _arguments(parser: argparse.ArgumentParser) -> str:
    """Return the table of a parser's arguments, those of a titled group under its title."""
    rows: list[str] = []
    for group in parser._action_groups:
        shown = [each for each in group._group_actions if _is_shown(each)]
        if shown and group.title not in ("positional arguments", "options"):
            rows.append(f"| **{group.title}** | |")
        rows += [f"| {_spelling(each)} | {_help(parser, each)} |" for each in shown]
    return "\n".join(["| argument | meaning |", "|---|---|", *rows]) if rows else ""


def _is_shown(action: argparse.Action) -> bool:
    return action.help is not argparse.SUPPRESS and action.dest != "help"


def _spelling(action: argparse.Action) -> str:
    names = ", ".join(f"`{name}`" for name in action.option_strings)
    if action.nargs == 0:
        return names
    value = action.metavar or (
        "{" + ",".join(map(str, action.choices)) + "}" if action.choices else action.dest.upper()
    )
    if isinstance(value, tuple):
        value = " ".join(value)
    if not names:
        return f"`{value}`"
    return names[:-1] + f" {value}`"


def _help(parser: argparse.ArgumentParser, action: argparse.Action) -> str:
    text = " ".join(parser._get_formatter()._expand_help(action).split())
    return text.replace("|", "\\|").replace("<", "&lt;").replace("{", "&#123;")


def root_page(source: str) -> str:
    """Return a page of the repository's root with its links as seen from the documentation."""
    text = (ROOT / source).read_text(encoding="utf-8")
    text = text.replace("](docs/", "](")
    for other in FROM_ROOT.values():
        text = text.replace(f"]({other}", f"](../{other}")
    return site_links(text, "")


def site_links(markdown: str, folder: str) -> str:
    """Return a page of a folder of ``docs/`` with its links out of ``docs/`` as those of the site.

    The repository's pages are pages of the site; of a source file only the name stays.
    """

    def link(match: re.Match[str]) -> str:
        full = posixpath.normpath(posixpath.join("docs", folder, match[2]))
        if full.startswith("docs/"):
            return match[0]
        for page, source in {**FROM_ROOT, "index.md": "README.md"}.items():
            if posixpath.basename(full) == source:
                target = posixpath.relpath(page, folder or ".")
                return f"[{match[1]}]({target}{match[3] or ''})"
        return match[1]

    return _LINK.sub(link, markdown)


def with_tables(markdown: str) -> str:
    """Return a page with its tables in place of their marks."""
    for mark, table in TABLES.items():
        if mark in markdown:
            markdown = markdown.replace(mark, table())
    return markdown


def finished(page: str) -> str:
    """Return a page of ``docs/`` with what is generated and with its links as those of the site."""
    markdown = with_tables((DOCS / page).read_text(encoding="utf-8"))
    if page == COMMANDS_PAGE:
        markdown += "\n\n" + command_reference()
    return site_links(markdown, posixpath.dirname(page))


def write(build: Path) -> None:
    """Write all pages and pictures into the folder ``docs`` of ``build``, and the configuration."""
    out = build / "docs"
    if out.exists():
        shutil.rmtree(out)  # a page that was renamed or deleted
    shutil.copytree(DOCS, out, ignore=shutil.ignore_patterns(TOOL))
    for path in DOCS.rglob("*.md"):
        page = path.relative_to(DOCS).as_posix()
        (out / page).write_text(finished(page), encoding="utf-8")
    for page, source in FROM_ROOT.items():
        (out / page).write_text(root_page(source), encoding="utf-8")
    shutil.copyfile(DOCS / TOOL / "mkdocs.yml", build / "mkdocs.yml")


if __name__ == "__main__":
    write(ROOT / "build")
