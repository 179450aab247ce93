"""The packages of mjbot: two of them lie beside the folder ``mjbot``."""

import shutil

from setuptools import find_packages, setup
from setuptools.command.build_py import build_py

BESIDE = ("protocol", "strategies")


class BuildAnew(build_py):
    """Builds into an empty folder: what an earlier build left there would be installed as well."""

    def run(self) -> None:
        """Remove ``build/lib``, and build."""
        if not self.editable_mode:
            shutil.rmtree(self.build_lib, ignore_errors=True)
        super().run()


setup(
    cmdclass={"build_py": BuildAnew},
    packages=[
        *find_packages(include=["mjbot*"], exclude=[f"mjbot.{name}*" for name in BESIDE]),
        *(f"mjbot.{name}" for name in find_packages(include=[f"{name}*" for name in BESIDE])),
    ],
)
