"""What frameworks write around the words of users and agents."""

from __future__ import annotations

import pytest

from carob.traces.messages.frames import unframe_answer, unframe_user
from carob.traces.messages.message import CallBlock, Message, asked_text, last_answer

CREW = (
    "\nCurrent Task: Which bikes are in stock?\n\n"
    "This is the expected criteria for your final answer: A short answer.\nBegin!"
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (CREW, "Which bikes are in stock?"),
        ("New task:\nCount the bikes.", "Count the bikes."),
        ("Your task: Count the bikes.", "Count the bikes."),
        ("You're a helpful agent named 'stock'.\nTask:\nCount.", None),
        ("Current plans?", "Current plans?"),
    ],
)
def test_frame_is_not_what_the_user_wrote(text: str, words: str | None):
    assert unframe_user(text) == words


def test_context_from_another_agent_is_not_the_question():
    messages = [Message("user", "Is it open?"), Message("user", "For context: [desk] said: yes")]
    assert asked_text(messages) == "Is it open?"
    assert asked_text(messages[1:]) == "For context: [desk] said: yes"


def test_message_without_its_text_hides_the_question():
    assert asked_text([Message("user", "Is it open?"), Message("user")]) is None


def test_announcement_of_a_hand_over_is_not_an_answer():
    call = CallBlock("transfer_back_to_desk", {}, "call_1")
    announced = Message("assistant", "Transferring back to desk", [call])
    assert last_answer([Message("assistant", "Yes."), announced]) == "Yes."


def test_speaker_is_not_a_part_of_the_answer():
    assert unframe_answer("assistant: Yes.") == "Yes."
