"""`mtp doctor`: what this machine offers, what mtp would use of it, and what is missing."""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import platform
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer

from mtp_cli import __version__, catalog, threads
from mtp_cli.commands import termux
from mtp_cli.commands.models import Format, FormatOption
from mtp_cli.cores.quota import cpu_quota
from mtp_cli.meters import memory
from mtp_cli.meters.sources.find import find_source
from mtp_cli.meters.thermal import read_thermal
from mtp_cli.threads import default_threads, layout_of

UNAVAILABLE = "unavailable"
_EXTRAS = {
    "hub": ("huggingface_hub", "models by hf:OWNER/NAME/FILE.gguf"),
    "plot": ("matplotlib", "mtp bench --plot"),
    "test": ("pytest", "the tests"),
}
_LEAST_FREE_BYTES = 400_000_000
"""Memory below which the default model with its cache is likely to swap."""


@dataclass(slots=True)
class Finding:
    """Something missing. `exit_code` 0: mtp works without it."""

    what: str
    fix: str
    exit_code: int = 0


@dataclass(slots=True)
class Facts:
    """Sections of the report by name, and what is missing."""

    sections: dict[str, Any] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)

    @property
    def exit_code(self) -> int:
        """2 when the installation cannot work, else 3 when the default model is missing, else 0."""
        codes = {finding.exit_code for finding in self.findings}
        return 2 if 2 in codes else 3 if 3 in codes else 0


def register(app: typer.Typer) -> None:
    """Add `doctor` to the main app."""
    app.command("doctor")(doctor)


def doctor(
    output: FormatOption = Format.text,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="List every CPU feature.")] = False,
) -> None:
    """Show what this machine offers and what is missing.

    Exit code 0: ready; 2: the installation cannot work; 3: the default model is missing and cannot be had."""
    facts = collect()
    if output is Format.json:
        missing = [{"what": f.what, "fix": f.fix, "exit_code": f.exit_code} for f in facts.findings]
        print(json.dumps({**facts.sections, "missing": missing, "usable": facts.exit_code == 0}, indent=2))
    else:
        _print_text(facts, verbose)
    raise typer.Exit(facts.exit_code)


def collect() -> Facts:
    """Look at everything; never raises for something that is merely missing."""
    facts = Facts()
    facts.sections["mtp"] = {
        "version": __version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
    }
    _look_at_engine(facts)
    _look_at_memory(facts)
    _look_at_modules(facts)
    _look_at_termux(facts)
    _look_at_models(facts)
    _look_at_extras(facts)
    _look_at_energy(facts)
    heat = read_thermal()
    facts.sections["thermal"] = {**heat.record(), "words": heat.words()}
    if heat.slowed:
        facts.findings.append(Finding(f"the CPU is slowed down: {heat.words()}", "let it cool down"))
    return facts


def _look_at_energy(facts: Facts) -> None:
    """The sensor that joules would be read from, and why others cannot be."""
    found = find_source()
    source = found.source
    facts.sections["energy"] = {
        "origin": "estimated" if source is None else "measured",
        "source": "counted work" if source is None else source.name,
        "scope": "cores at work and memory" if source is None else source.scope,
        "refused": [{"name": one.name, "why": one.why, "fix": one.fix} for one in found.refused],
    }
    for one in found.refused:
        if one.fix:
            facts.findings.append(Finding(f"energy is not measured by {one.name}: {one.why}", one.fix))


def _look_at_engine(facts: Facts) -> None:
    reinstall = (
        "install mtp again: python3 native/install.py in a clone, or pip install --force-reinstall mtp-cli"
    )
    cpu: dict[str, Any] = {"name": _cpu_name(), "features": UNAVAILABLE}
    engine: dict[str, Any] = {"native_module": False, "kernel": UNAVAILABLE, "kernels_usable": []}
    try:
        from mtp_cli.engine import kernel_sets

        found = kernel_sets()
        usable = [str(kernel) for kernel in found["usable"]]
        chosen = usable[0]  # best first
        engine.update(
            native_module=True,
            kernel=chosen,
            kernels_compiled=list(found["compiled"]),
            kernels_usable=usable,
        )
        cpu["features"] = list(found["features"])
        if chosen == "scalar":
            facts.findings.append(
                Finding(
                    "no fast kernel for this CPU",
                    "mtp works, slowly; a CPU with AVX2, or 64-bit Arm, is much faster",
                )
            )
    except ImportError as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        facts.findings.append(Finding(f"the native module does not load ({reason})", reinstall, 2))
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        facts.findings.append(Finding(f"the native module is not usable ({reason})", reinstall, 2))
    if importlib.util.find_spec("llama_cpp") is None:
        facts.findings.append(Finding("llama-cpp-python is not installed", reinstall, 2))
    physical, logical = _cores()
    layout, quota = layout_of(), cpu_quota(threads.ROOT)
    facts.sections["cpu"] = cpu | {
        "cores": physical or UNAVAILABLE,
        "logical_cores": logical or UNAVAILABLE,
        "threads_chosen": default_threads(),
        "fast_cores": len(layout.fast) if layout is not None else UNAVAILABLE,
        "slow_cores": len(layout.slow) if layout is not None else UNAVAILABLE,
        "quota_cpus": quota if quota is not None else "none",
    }
    facts.sections["engine"] = engine


def _cpu_name() -> str:
    """The CPU's trade name, else its architecture."""
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
            key, _, value = line.partition(":")
            if key.strip() in ("model name", "Model") and value.strip():
                return value.strip()
    except OSError:
        pass
    return platform.processor() or platform.machine() or UNAVAILABLE


def _cores() -> tuple[int, int]:
    """(physical, logical) cores that this process may use; 0 where that cannot be told."""
    logical = os.cpu_count() or 0
    if hasattr(os, "sched_getaffinity"):
        logical = len(os.sched_getaffinity(0))
    layout = layout_of()
    if layout is not None:
        return len(layout.fast) + len(layout.slow), logical
    try:
        import psutil

        physical = psutil.cpu_count(logical=False) or 0
    except Exception:  # psutil raises its own kinds, and it may be missing
        physical = 0
    return (min(physical, logical) if logical else physical), logical


def _look_at_memory(facts: Facts) -> None:
    total, free = (reading.value for reading in memory.machine())
    facts.sections["memory"] = {
        "total_bytes": UNAVAILABLE if total is None else int(total),
        "available_bytes": UNAVAILABLE if free is None else int(free),
    }
    if free is not None and free < _LEAST_FREE_BYTES:
        facts.findings.append(
            Finding(f"only {catalog.size_text(int(free))} of memory is free", "close other programs first")
        )


def _look_at_modules(facts: Facts) -> None:
    """Packages that mtp does without where they do not load, as on phones."""
    for name, lost in (
        ("numpy", "mtp proofread judges no edits"),
        ("psutil", "memory is read from /proc alone"),
    ):
        try:
            importlib.import_module(name)
        except Exception as error:  # whatever a broken extension module raises
            reason = str(error).strip().splitlines()[:1] or [type(error).__name__]
            fix = f"pkg install python-{name}" if termux.is_termux(os.environ) else f"pip install {name}"
            facts.findings.append(Finding(f"{name} does not load ({reason[0]}): {lost}", fix))


def _look_at_termux(facts: Facts) -> None:
    if termux.is_termux(os.environ):
        found = termux.look(os.environ)
        facts.sections["termux"] = {
            "version": found.version,
            "android": found.android,
            "storage": found.storage,
        }
        facts.findings += [Finding(what, fix) for what, fix in found.hints]


def _look_at_models(facts: Facts) -> None:
    import shutil

    folder = catalog.cache_dir()
    existing = next((place for place in (folder, *folder.parents) if place.exists()), folder)
    try:
        free: Any = shutil.disk_usage(existing).free
    except OSError:
        free = UNAVAILABLE
    writable = os.access(existing, os.W_OK)
    facts.sections["cache"] = {"folder": str(folder), "free_bytes": free, "writable": writable}
    if not writable:
        fix = "set MTP_CACHE_DIR to a folder you can write"
        facts.findings.append(Finding(f"the cache folder {folder} cannot be written", fix, 3))
    models: list[dict[str, Any]] = []
    facts.sections["models"] = models
    try:
        for entry in catalog.load_catalog().values():
            models.append(_model(entry, facts, writable))
    except catalog.ModelError as error:
        facts.findings.append(Finding(str(error), "install mtp again", 2))


def _model(entry: catalog.Entry, facts: Facts, writable: bool) -> dict[str, Any]:
    path = catalog.model_path(entry)
    state = "not fetched"
    if path.is_file():
        try:
            state = "ready" if catalog.is_intact(entry) else "damaged"
        except catalog.ModelError:
            state = "unreadable"
    if state != "ready" and entry.default:
        can_fetch = writable and not catalog.is_offline() and importlib.util.find_spec("pip") is not None
        when = "; it is fetched at first use" if can_fetch else ""
        facts.findings.append(
            Finding(
                f"the default model {entry.name} is {state}{when}",
                f"mtp models pull {entry.name}",
                0 if can_fetch else 3,
            )
        )
    return {"name": entry.name, "default": entry.default, "state": state, "path": str(path)}


def _look_at_extras(facts: Facts) -> None:
    found = {name: importlib.util.find_spec(module) is not None for name, (module, _) in _EXTRAS.items()}
    facts.sections["extras"] = found
    for name, (module, purpose) in _EXTRAS.items():
        if not found[name] and name != "test":
            facts.findings.append(Finding(f"{module} is not installed ({purpose})", f"pip install {module}"))


def _print_text(facts: Facts, verbose: bool) -> None:
    from mtp_cli.view.tables import write_fields

    part = facts.sections
    cpu, engine, ram, cache = part["cpu"], part["engine"], part["memory"], part["cache"]
    features = cpu["features"]
    if isinstance(features, list):
        features = " ".join(features) if features else "none that matter here"
    fields = [
        ("mtp", f"{part['mtp']['version']}, Python {part['mtp']['python']}, {part['mtp']['system']}"),
        ("cpu", f"{cpu['name']}, {cpu['cores']} cores, {cpu['logical_cores']} logical"),
        ("cpu features", str(features)),
        ("kernel", f"{engine['kernel']}" + _usable(engine, verbose)),
        ("threads", str(cpu["threads_chosen"]) + _why_threads(cpu)),
        ("memory", f"{_size(ram['total_bytes'])} total, {_size(ram['available_bytes'])} free"),
        ("cache folder", f"{cache['folder']}, {_size(cache['free_bytes'])} free"),
    ]
    fields += [("model", f"{m['name']}: {m['state']}" + _default(m)) for m in part["models"]]
    extras = [f"{name}: {'yes' if there else 'no'}" for name, there in part["extras"].items()]
    fields += [("extras", ", ".join(extras)), ("energy", _energy_words(part["energy"]))]
    fields.append(("heat", part["thermal"]["words"]))
    write_fields(sys.stdout, fields)
    print()
    for finding in facts.findings:
        mark = "problem" if finding.exit_code else "note"
        print(f"{mark}: {finding.what}\n  -> {finding.fix}")
    print("mtp is ready to use" if facts.exit_code == 0 else "mtp cannot be used yet")


def _usable(engine: dict[str, Any], verbose: bool) -> str:
    if not verbose or not engine["kernels_usable"]:
        return ""
    return f" (usable: {', '.join(engine['kernels_usable'])}; built: {', '.join(engine['kernels_compiled'])})"


def _why_threads(cpu: dict[str, Any]) -> str:
    """What kept the number down."""
    reasons = []
    if isinstance(cpu["slow_cores"], int) and cpu["slow_cores"]:
        reasons.append(f"{cpu['fast_cores']} fast cores, {cpu['slow_cores']} slow ones left alone")
    if isinstance(cpu["quota_cpus"], float):
        reasons.append(f"this container may use {cpu['quota_cpus']:g} CPUs")
    return f" ({'; '.join(reasons)})" if reasons else ""


def _energy_words(energy: dict[str, Any]) -> str:
    return f"{energy['origin']}: {energy['source']}, {energy['scope']}"


def _default(model: dict[str, Any]) -> str:
    return " (default)" if model["default"] else ""


def _size(value: Any) -> str:
    return catalog.size_text(value) if isinstance(value, int) else str(value)
