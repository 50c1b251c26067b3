"""Reads a cloud assembly, the output of CDK's synthesis in `cdk.out`, without the CDK command line."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from stepward.domain.errors import Misconfigured

ZIP_EPOCH = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Asset:
    """A file, or a folder to zip, with the bucket and key where the template expects it."""

    source: Path
    zipped: bool
    bucket: str
    key: str

    def content(self) -> bytes:
        """The bytes to upload, the same for the same files."""
        return _zip(self.source) if self.zipped else self.source.read_bytes()


@dataclass(frozen=True)
class Assembly:
    """The assembly of one stack in `folder`; `resolve` inserts the account and the region into names."""

    folder: Path
    resolve: Callable[[str], str]

    @property
    def stack_name(self) -> str:
        """The name of the stack."""
        return str(self._stack["properties"].get("stackName", self._stack["id"]))

    @property
    def template(self) -> str:
        """The synthesised template, byte for byte."""
        return self._template_file.read_text()

    @property
    def parameters(self) -> Mapping[str, str]:
        """The parameters that the synthesis sets."""
        return dict(self._stack["properties"].get("parameters", {}))

    @property
    def template_asset(self) -> Asset:
        """The asset that is the template; raises Misconfigured if there is none."""
        for asset in self.assets:
            if asset.source == self._template_file:
                return asset
        raise Misconfigured(f"{self.folder} does not list its template as an asset; synthesise it again")

    @property
    def bootstrap(self) -> Mapping[str, str]:
        """The SSM parameters by which the template checks that `cdk bootstrap` was run, with the versions it needs."""
        needs = [it["properties"] for it in self._artifacts.values() if "properties" in it]
        return {
            it["bootstrapStackVersionSsmParameter"]: str(it["requiresBootstrapStackVersion"])
            for it in needs
            if "bootstrapStackVersionSsmParameter" in it
        }

    @cached_property
    def assets(self) -> Sequence[Asset]:
        """Every file to upload."""
        manifests = [it for it in self._artifacts.values() if it["type"] == "cdk:asset-manifest"]
        files = [file for it in manifests for file in _read(self.folder / it["properties"]["file"])["files"].values()]
        return [self._asset(file["source"], target) for file in files for target in file["destinations"].values()]

    def _asset(self, source: Mapping[str, str], destination: Mapping[str, str]) -> Asset:
        return Asset(
            source=self.folder / source["path"],
            zipped=source["packaging"] == "zip",
            bucket=self.resolve(destination["bucketName"]),
            key=self.resolve(destination["objectKey"]),
        )

    @property
    def _template_file(self) -> Path:
        return self.folder / str(self._stack["properties"]["templateFile"])

    @cached_property
    def _stack(self) -> Mapping[str, Any]:
        stacks = [dict(it, id=name) for name, it in self._artifacts.items() if it["type"] == "aws:cloudformation:stack"]
        if len(stacks) != 1:
            raise Misconfigured(f"{self.folder} holds {len(stacks)} stacks, not one")
        return stacks[0]

    @cached_property
    def _artifacts(self) -> Mapping[str, Any]:
        if not (manifest := self.folder / "manifest.json").exists():
            raise Misconfigured(f"{self.folder} is not a cloud assembly; run `make synth`")
        return dict(_read(manifest)["artifacts"])


def _read(file: Path) -> dict[str, Any]:
    return dict(json.loads(file.read_text()))


def _zip(folder: Path) -> bytes:
    target = io.BytesIO()
    # Stored, not deflated: the bytes never leave this machine.
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        for file in sorted(it for it in folder.rglob("*") if it.is_file()):
            entry = zipfile.ZipInfo(file.relative_to(folder).as_posix(), ZIP_EPOCH)
            entry.external_attr = (0o755 if file.stat().st_mode & 0o100 else 0o644) << 16
            archive.writestr(entry, file.read_bytes())
    return target.getvalue()
