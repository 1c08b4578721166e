"""Site models as files: one JSON file, or a folder with one for each host."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from crawlclean.cleaning.errors import ConfigError
from crawlclean.cleaning.model.site_model import MAX_MODEL_BYTES, SiteModel
from crawlclean.workers.operations.files.whole_files import host_name, write_whole

SUFFIX = ".json"


def is_one_file(path: Path) -> bool:
    """Whether models are saved to the path as one file: ``site.json``, no folder of this name."""
    return path.suffix.lower() == SUFFIX and not path.is_dir()


def save_models(path: Path, models: Iterable[SiteModel]) -> None:
    """Writes each model as JSON, to the one file or into the folder.

    Raises:
        StoreUnavailable: A file cannot be written.
    """
    for model in models:
        file = path if is_one_file(path) else path / (host_name(model.host) + SUFFIX)
        write_whole(file, model.to_json().encode())


def load_models(path: Path) -> dict[str, SiteModel]:
    """Returns the models of a file, or of the ``.json`` files of a folder, by host.

    Raises:
        ConfigError: The path does not exist, holds no model, or a file is none; or two files are
            models of one host.
    """
    if not path.exists():
        raise ConfigError(f"--model {path} does not exist")
    files = [path]
    if path.is_dir():
        files = sorted(file for file in path.glob("*" + SUFFIX) if not file.name.startswith("."))
        if not files:
            raise ConfigError(f"--model {path} holds no {SUFFIX} file")
    models: dict[str, SiteModel] = {}
    places: dict[str, Path] = {}
    for file in files:
        model = _load(file)
        if model.host in models:
            raise ConfigError(f"{places[model.host]} and {file} are both models of {model.host}")
        models[model.host] = model
        places[model.host] = file
    return models


def _load(file: Path) -> SiteModel:
    try:
        with file.open("rb") as stream:
            data = stream.read(MAX_MODEL_BYTES + 1)
        if len(data) > MAX_MODEL_BYTES:
            raise ConfigError("not a site model: too long")
        model = SiteModel.from_json(data.decode())
        model.index  # noqa: B018 - rules that contradict each other fail here, not at each page
    except OSError as error:
        raise ConfigError(f"{file}: {error.strerror}") from None
    except ConfigError as error:
        raise ConfigError(f"{file}: {error}") from None
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        raise ConfigError(f"{file}: not a site model ({type(error).__name__})") from None
    return model
