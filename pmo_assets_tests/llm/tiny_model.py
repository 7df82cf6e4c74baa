"""Builds tiny models with random weights and a tokenizer trained on the spot: `tiny_model.py text|vision FOLDER`.

Run by the Python that has vLLM; nothing is downloaded. Their words mean nothing, but the engine, the chat template, the
processing of pictures and structured output are the real ones.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n"
    "{% if enable_thinking is defined and not enable_thinking %}<think>\n\n</think>\n\n{% endif %}{% endif %}"
)
VISION_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n"
    "{% if message.content is string %}{{ message.content }}{% else %}"
    "{% for part in message.content %}{% if part.type == 'text' %}{{ part.text }}{% else %}<image>{% endif %}"
    "{% endfor %}{% endif %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
SPECIAL_OF_PICTURES = [
    "<image>",
    "<fake_token_around_image>",
    "<global-img>",
    "<end_of_utterance>",
    *(f"<row_{row}_col_{column}>" for row in range(1, 7) for column in range(1, 7)),
]
CONTEXT = 16384
PICTURE_SIDE, PATCH_SIDE = 112, 14
"""Pixels of the pieces that the vision model cuts a picture into, and of their patches; four patches make a token."""


def _tokenizer(folder: Path, template: str, special: list[str]):
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    prompts = Path(__file__).parents[2] / "prompts"
    texts = [path.read_text(encoding="utf-8") for path in sorted(prompts.rglob("*.*"))]
    trainer = trainers.BpeTrainer(
        vocab_size=1024, special_tokens=special, initial_alphabet=pre_tokenizers.ByteLevel.alphabet()
    )
    tokenizer.train_from_iterator(texts, trainer)
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<|im_end|>", pad_token="<|endoftext|>")
    fast.chat_template = template
    fast.save_pretrained(folder)
    return fast


def _language(tokenizer) -> dict[str, object]:
    return {
        "vocab_size": len(tokenizer),
        "hidden_size": 128,
        "intermediate_size": 256,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "num_key_value_heads": 2,
        "head_dim": 64,
        "max_position_embeddings": CONTEXT,
        "eos_token_id": tokenizer.convert_tokens_to_ids("<|im_end|>"),
        "bos_token_id": None,
    }


def _write_config(folder: Path, config, architecture: str) -> None:
    facts = {**config.to_dict(), "architectures": [architecture], "dtype": "float32"}
    (folder / "config.json").write_text(json.dumps(facts, default=str))


def build_text(folder: Path) -> None:
    """Write configuration and tokenizer of a Qwen3; the engine makes up the weights (`load_format="dummy"`)."""
    from transformers import Qwen3Config

    tokenizer = _tokenizer(folder, TEMPLATE, SPECIAL)
    _write_config(folder, Qwen3Config(**_language(tokenizer), tie_word_embeddings=True), "Qwen3ForCausalLM")


def build_vision(folder: Path) -> None:
    """Write an Idefics3 with random weights: vLLM runs it without torchvision, unlike Qwen's.

    The weights are written and not made up by the engine, whose made-up ones are so small that no picture changes a
    word.
    """
    import torch
    from transformers import (
        Idefics3Config,
        Idefics3ForConditionalGeneration,
        Idefics3ImageProcessor,
        Idefics3Processor,
        LlamaConfig,
    )

    tokenizer = _tokenizer(folder, VISION_TEMPLATE, [*SPECIAL, *SPECIAL_OF_PICTURES])
    config = Idefics3Config(
        vision_config={
            "hidden_size": 64,
            "intermediate_size": 128,
            "num_hidden_layers": 2,
            "num_attention_heads": 2,
            "image_size": PICTURE_SIDE,
            "patch_size": PATCH_SIDE,
        },
        text_config=LlamaConfig(**_language(tokenizer), initializer_range=0.3),
        image_token_id=tokenizer.convert_tokens_to_ids("<image>"),
        scale_factor=2,
        pad_token_id=tokenizer.convert_tokens_to_ids("<|endoftext|>"),
    )
    processor = Idefics3Processor(
        image_processor=Idefics3ImageProcessor(
            size={"longest_edge": 2 * PICTURE_SIDE}, max_image_size={"longest_edge": PICTURE_SIDE}
        ),
        tokenizer=tokenizer,
        image_seq_len=(PICTURE_SIDE // PATCH_SIDE // 2) ** 2,
        chat_template=VISION_TEMPLATE,
    )
    processor.save_pretrained(folder)
    torch.manual_seed(0)
    Idefics3ForConditionalGeneration(config).save_pretrained(folder)
    _write_config(folder, config, "Idefics3ForConditionalGeneration")


if __name__ == "__main__":
    {"text": build_text, "vision": build_vision}[sys.argv[1]](Path(sys.argv[2]))
