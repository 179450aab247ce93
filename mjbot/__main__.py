"""``python -m mjbot COMMAND ...`` is the command line."""

from mjbot.cli.main import run_program

if __name__ == "__main__":
    run_program()
