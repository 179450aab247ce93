"""The packages of mjbot: two of them lie beside the folder ``mjbot``."""

from setuptools import find_packages, setup

BESIDE = ("protocol", "strategies")

setup(
    packages=[
        *find_packages(include=["mjbot*"], exclude=[f"mjbot.{name}*" for name in BESIDE]),
        *(f"mjbot.{name}" for name in find_packages(include=[f"{name}*" for name in BESIDE])),
    ]
)
