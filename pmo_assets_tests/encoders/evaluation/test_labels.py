"""Label sets: every prompt is a sentence, every class of the package exists."""

from __future__ import annotations

import pytest

from pmo_assets.encoders.evaluation.embeddings import EmbeddingsError
from pmo_assets.encoders.evaluation.labels import label_set, shipped_label_sets
from pmo_assets.lexicon.terms import shipped_lexicon
from pmo_assets.records.image_types import IMAGE_TYPES
from pmo_assets.records.modalities import MODALITIES


def test_classes_are_those_of_the_package() -> None:
    assert label_set("image_type").names == IMAGE_TYPES
    assert label_set("modality").names == MODALITIES


def test_a_prompt_is_a_kind_of_its_own_only_where_the_label_set_says_so() -> None:
    types, diseases = label_set("image_type"), label_set("disease")
    assert len(dict(types.kind_of_each_prompt())) == sum(len(item.prompts) for item in types.classes.values())
    assert list(dict(diseases.kind_of_each_prompt()).values()) == list(range(len(diseases.names)))
    for labels in (types, diseases):
        owners = [labels.names[number] for _, number in labels.kind_of_each_prompt()]
        assert owners == [name for name, _ in labels.prompts()]


@pytest.mark.parametrize("name", shipped_label_sets())
def test_every_class_has_its_own_sentences(name) -> None:
    prompts = label_set(name).prompts()
    sentences = [sentence for _, sentence in prompts]
    assert len(set(sentences)) == len(sentences)
    assert {found for found, _ in prompts} == set(label_set(name).names)
    assert not any("{" in sentence for sentence in sentences)


def test_disease_groups_are_terms_of_the_lexicon_and_do_not_lie_within_each_other() -> None:
    diseases = label_set("disease")
    terms = [term for item in diseases.classes.values() for term in item.terms]
    assert all(("disease", term) in shipped_lexicon().terms for term in terms)
    assert {diseases.class_of_diseases([term]) for term in terms} == set(diseases.names)


def test_a_panel_has_the_class_that_its_diseases_lie_within() -> None:
    diseases = label_set("disease")
    assert diseases.class_of_diseases(["early age-related macular degeneration"]) == "age-related macular degeneration"
    assert (
        diseases.class_of_diseases(["proliferative diabetic retinopathy", "diabetic macular edema"])
        == "diabetic retinopathy"
    )
    assert diseases.class_of_diseases(["glaucoma", "macular hole"]) is None
    assert diseases.class_of_diseases([]) is None


OWN = """title = "t"
source = "s"
templates = ["a {}"]
[classes.x]
prompts = ["b"]
[classes.y]
prompts = ["c"]
"""


def test_label_sets_of_ones_own_are_read_and_checked(tmp_path) -> None:
    file = tmp_path / "own.toml"
    file.write_text(OWN)
    assert label_set(str(file)).prompts() == (("x", "a b"), ("y", "a c"))
    for text, reason in [
        (OWN.replace("a {}", "a"), "must have {} once"),
        (OWN.replace('["b"]', "[]"), "classes.x.prompts"),
        (OWN.replace("source", "sauce"), "source: Field required"),
        ("title", "is no TOML"),
    ]:
        file.write_text(text)
        with pytest.raises(EmbeddingsError, match=reason):
            label_set(str(file))
    with pytest.raises(EmbeddingsError, match="there is no label set 'none': disease, image_type"):
        label_set("none")
