from __future__ import annotations

import asyncio
from collections.abc import Mapping

import pytest

from carob.errors import UsageError
from carob.judges.client.cache import MemoryCache
from carob.judges.pool import JudgePool
from carob.judges.providers.open import BuiltinProviders, ProviderFactory, open_model
from carob.judges.rubrics.builtin import builtin_metric
from carob.judges.sync import run_sync
from carob.schema import JudgeSettings
from tests.judges.client.scripted_model import ScriptedModel


def _scripted(settings: JudgeSettings) -> ScriptedModel:
    return ScriptedModel(replies=["{}"], name=settings.model)


PROVIDERS: Mapping[str, ProviderFactory] = {**BuiltinProviders(), "house": _scripted}


def test_provider_of_another_package_opens_a_model():
    model = open_model(JudgeSettings(model="house:m-1"), PROVIDERS)
    assert isinstance(model, ScriptedModel)
    assert model.name == "house:m-1"


def test_provider_of_another_package_is_suggested():
    with pytest.raises(UsageError, match=r"expected one of: openai, .*, local, house") as caught:
        open_model(JudgeSettings(model="hous:m-1"), PROVIDERS)
    assert caught.value.hint == "did you mean 'house'?"


def test_every_builtin_provider_can_be_loaded():
    assert all(callable(factory) for factory in BuiltinProviders().values())


def test_metrics_with_the_same_model_share_a_client():
    pool = JudgePool("house:m-1", MemoryCache, providers=PROVIDERS)
    first = pool.client_for(builtin_metric("Helpfulness")())
    assert first is not None
    assert pool.client_for(builtin_metric("Empathy")()) is first


def test_dry_pool_opens_no_model():
    pool = JudgePool("nobody:m-1", MemoryCache, dry=True)
    assert pool.client_for(builtin_metric("Helpfulness")()) is not None
    assert pool.stopped is None


def test_run_sync_works_inside_a_running_loop():
    async def double(number: int) -> int:
        await asyncio.sleep(0)
        return 2 * number

    async def main() -> int:
        return run_sync(double(21))

    assert asyncio.run(main()) == run_sync(double(21)) == 42
