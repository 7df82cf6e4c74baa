"""Steps of instructions about lectures, video by video: cues of each picture with their scores, questions, verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from pmo_assets.pipeline.instructions.case import CuedCase
from pmo_assets.pipeline.instructions.checks import is_kept, verdicts
from pmo_assets.pipeline.instructions.cues import panel_cues
from pmo_assets.pipeline.instructions.dialogues import conversation
from pmo_assets.pipeline.instructions.scores import cue_score
from pmo_assets.pipeline.instructions.spoken_cases import spoken_case
from pmo_assets.pipeline.instructions.templates import short_questions
from pmo_assets.pipeline.videos.sentences import spoken_sentences
from pmo_assets.pipeline.videos.steps import in_picture
from pmo_assets.pipeline.videos.words import Word, joined, words_within
from pmo_assets.records.instructions import Evidence, Instruction, Verdict
from pmo_assets.records.step_output import Row, StepOutput
from pmo_assets.records.stores import StorageError
from pmo_assets.records.videos import video_pair_id
from pmo_assets.tables.rows import row_of

Rows = Sequence[Mapping[str, Any]]


class SpokenPair:
    """A picture of a lecture with its sentences and its cues.

    Attributes:
        pair_id: name of picture and transcript.
        sentences: of the transcript.
        cued: the case with its cues; its mentions are the sentences.
    """

    def __init__(self, pair_id: str, images: Rows, words: Sequence[Word], start: float, end: float) -> None:
        """Take what `video_pairs` has of a picture, and the words that are said around it."""
        self.pair_id = pair_id
        self.sentences = spoken_sentences(words, start, end)
        case = spoken_case(pair_id, images, self.sentences)
        self.cued = CuedCase(case, panel_cues(case))

    def instructions(self) -> list[tuple[Instruction, tuple[Verdict, ...]]]:
        """Return what is asked of the picture, each with the verdicts of every check; nothing of cues that say little.

        No reasoning is made: its conclusion would rest on sentences that point at no picture.
        """
        if not cue_score(self.cued).is_kept:
            return []
        short = short_questions(self.cued)
        return [(item, verdicts(self.cued, item)) for item in (*short, *conversation(self.cued, short))]

    def place(self, mention: int | None, start: int, end: int) -> Row:
        """Return the range of words in the transcript, and the seconds of their sentence."""
        sentence = self.sentences[mention or 0]
        return {
            "start": sentence.first + start,
            "end": sentence.first + end,
            "from_second": sentence.start,
            "to_second": sentence.end,
        }

    def evidence(self, item: Evidence) -> Row:
        """Return a piece of evidence as the table has it."""
        words = dict.fromkeys(("start", "end", "from_second", "to_second"))
        if item.start is not None and item.end is not None:
            words = self.place(item.mention, item.start, item.end)
        return {"kind": item.kind, "text": item.text, **words}


def separate_video_cues(video_pairs: Rows, video_words: Rows) -> StepOutput:
    """Tell what is said to be visible in each picture of a lecture apart from what is added: rows of `video_cues`.

    Args:
        video_pairs: the video's rows of that table.
        video_words: its rows of that table.

    Raises:
        StorageError: if both are not of one making.
    """
    rows: list[Row] = []
    for key, pair in _spoken(video_pairs, video_words):
        score = row_of(cue_score(pair.cued))
        cues, case = pair.cued.cues, pair.cued.case
        rows.append(
            {
                **key,
                "scenes": [{**pair.place(cue.mention, cue.start, cue.end), "text": cue.text} for cue in cues.scenes],
                "context": [
                    {**pair.place(cue.mention, cue.start, cue.end), "text": cue.text, "kind": cue.kind}
                    for cue in cues.context
                    if case.is_own(cue.mention)
                ],
                **{name: score[name] for name in ("quality", "difficulty", "relevance", "has_details", "is_kept")},
                "modality": case.modality,
                "eye": case.eye,
            }
        )
    return StepOutput(rows)


def ask_about_video(video_pairs: Rows, video_words: Rows, video_cues: Rows) -> StepOutput:
    """Ask about each picture of a lecture, answer from what is said of it, and judge it: rows of `video_instructions`.

    Args:
        video_pairs: the video's rows of that table.
        video_words: its rows of that table.
        video_cues: its rows of that table: pictures whose cues are kept are asked about.

    Raises:
        StorageError: if both are not of one making.
    """
    kept = {row["pair_id"] for row in video_cues if row["is_kept"]}
    rows = [
        {**key, **instruction_cells(pair, number, item, said)}
        for key, pair in _spoken(video_pairs, video_words)
        if key["pair_id"] in kept
        for number, (item, said) in enumerate(pair.instructions())
    ]
    return StepOutput(rows)


def episode_instructions(episode: Mapping[str, Any], name: str) -> list[Row]:
    """Return the instructions about an episode that every check keeps, as `pmo video` writes them.

    Args:
        episode: of `pipeline.videos.video.read_video`.
        name: of the picture; by it phrasings are chosen.
    """
    if episode["reason"] is not None:
        return []
    words = [
        Word(word["text"], word["start"], word["end"], word["probability"], word.get("original"))
        for word in episode["words"]
    ]
    pair = SpokenPair(name, in_picture(episode["images"]), words, episode["start"], episode["end"])
    rows = [instruction_cells(pair, number, *made) for number, made in enumerate(pair.instructions())]
    return [{part: row[part] for part in _WRITTEN} for row in rows if row["is_kept"]]


_WRITTEN: Final = ("kind", "topic", "asked", "messages", "evidence", "confidence")
"""What `pmo video` writes of an instruction."""


def instruction_cells(pair: SpokenPair, number: int, item: Instruction, said: tuple[Verdict, ...]) -> Row:
    """Return an instruction with its verdicts as `video_instructions` has it, without the key of its picture."""
    return {
        "number": number,
        "kind": item.kind,
        "topic": item.topic,
        "asked": item.asked,
        "messages": [row_of(turn) for turn in item.turns],
        "evidence": [pair.evidence(own) for own in item.evidence],
        "maker": item.maker,
        "confidence": item.confidence,
        "is_kept": is_kept(said),
        "verdicts": [row_of(verdict) for verdict in said],
    }


def _spoken(video_pairs: Rows, video_words: Rows) -> Iterator[tuple[Row, SpokenPair]]:
    """Yield the key of each picture and what is said of it."""
    words = [Word(row["text"], row["start"], row["end"], row["probability"], row["original"]) for row in video_words]
    for row in video_pairs:
        said = words_within(words, row["start"], row["end"])
        if joined(said) != row["text"]:
            raise StorageError(f"the words of video {row['video_id']} are not those that its pairs were made of")
        name = video_pair_id(*(row[part] for part in ("video_id", "start", "end", "picture_sha256", "text")))
        key = {"video_id": row["video_id"], "episode": row["episode"], "pair_id": name}
        yield key, SpokenPair(name, row["images"], said, row["start"], row["end"])
