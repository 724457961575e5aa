from __future__ import annotations

import pytest

from carob.text.language import guess_language


@pytest.mark.parametrize(
    ("texts", "code"),
    [
        (("When does the shop open?", "At 9."), "en"),
        (("Wann öffnet der Laden?", "Um neun."), "de"),
        (("Quand ouvre le magasin ?",), "fr"),
        (("¿Cuándo abre la tienda?",), "es"),
        (("Quando apre il negozio?",), "it"),
        (("Quando é que a loja abre?", "Não sei."), "pt"),
        (("Wanneer gaat de winkel open?", "Het is dicht."), "nl"),
        (("Kiedy jest otwarty sklep?",), "pl"),
        (("Bu dükkan ne zaman açılıyor?",), "tr"),
        (("店は何時に開きますか",), "ja"),
        (("商店几点开门",), "zh"),
        (("متى يفتح المتجر؟",), "ar"),
        (("Hotel Panorama 7",), ""),
        (("",), ""),
    ],
)
def test_language_is_guessed_from_function_words_or_script(texts: tuple[str, ...], code: str):
    assert guess_language(*texts) == code
