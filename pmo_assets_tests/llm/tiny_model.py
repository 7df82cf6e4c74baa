"""Builds a Qwen3 model of two layers with random weights and a tokenizer trained on the spot: `tiny_model.py FOLDER`.

Run by the Python that has vLLM; nothing is downloaded. Its words mean nothing, but the engine, the chat template and
structured output are the real ones.
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
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]


def build(folder: Path) -> None:
    """Write configuration and tokenizer; the engine makes up the weights (`load_format="dummy"`)."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast, Qwen3Config

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    prompts = Path(__file__).parents[2] / "prompts"
    texts = [path.read_text(encoding="utf-8") for path in sorted(prompts.rglob("*.*"))]
    trainer = trainers.BpeTrainer(
        vocab_size=1024, special_tokens=SPECIAL, initial_alphabet=pre_tokenizers.ByteLevel.alphabet()
    )
    tokenizer.train_from_iterator(texts, trainer)
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<|im_end|>", pad_token="<|endoftext|>")
    fast.chat_template = TEMPLATE
    fast.save_pretrained(folder)
    config = Qwen3Config(
        vocab_size=len(fast),
        hidden_size=128,
        intermediate_size=256,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        head_dim=64,
        max_position_embeddings=16384,
        eos_token_id=fast.convert_tokens_to_ids("<|im_end|>"),
        bos_token_id=None,
        tie_word_embeddings=True,
    )
    facts = {**config.to_dict(), "architectures": ["Qwen3ForCausalLM"], "dtype": "float32"}
    (folder / "config.json").write_text(json.dumps(facts, default=str))


if __name__ == "__main__":
    build(Path(sys.argv[1]))
