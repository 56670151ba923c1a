"""A language model of 266 KB, written on the spot: real engines run on it, offline, in milliseconds. Its text is noise.

Architecture llama, 2 layers of width 64 with 4 heads, random weights from a fixed seed; its vocabulary is the bytes, the
printable ASCII characters and two chat tokens, so that about every byte of a prompt is one token.
"""

from __future__ import annotations

from pathlib import Path

CONTEXT = 8192
_LAYERS, _WIDTH, _HEADS, _FEED_FORWARD = 2, 64, 4, 128
_UNKNOWN, _BEGIN, _END = 0, 1, 2
_NORMAL, _UNKNOWN_TYPE, _CONTROL, _BYTE = 1, 2, 3, 6

#: What chat templates do, in the least words; `<|turn|>` and `<|end|>` are control tokens of the vocabulary.
CHAT_TEMPLATE = (
    "{% for message in messages %}<|turn|>{{ message['role'] }}: {{ message['content'] }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|turn|>assistant: {% endif %}"
)


def _vocabulary() -> tuple[list[bytes], list[float], list[int]]:
    pieces: list[tuple[bytes, float, int]] = [
        (b"<unk>", 0.0, _UNKNOWN_TYPE),
        (b"<s>", 0.0, _CONTROL),
        (b"</s>", 0.0, _CONTROL),
        (b"<|turn|>", 0.0, _CONTROL),
        (b"<|end|>", 0.0, _CONTROL),
    ]
    pieces += [(f"<0x{byte:02X}>".encode(), 0.0, _BYTE) for byte in range(256)]
    pieces += [(bytes([byte]), -float(byte), _NORMAL) for byte in range(33, 127)]
    pieces.append(("▁".encode(), -1.0, _NORMAL))
    texts, scores, types = zip(*pieces, strict=True)
    return list(texts), list(scores), list(types)


def write_tiny_model(path: Path, *, seed: int = 1) -> Path:
    """Write the model to `path` and return it; the same seed gives the same bytes."""
    import gguf
    import numpy as np

    texts, scores, types = _vocabulary()
    writer = gguf.GGUFWriter(str(path), "llama")
    writer.add_name("tiny")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(_WIDTH)
    writer.add_block_count(_LAYERS)
    writer.add_feed_forward_length(_FEED_FORWARD)
    writer.add_head_count(_HEADS)
    writer.add_head_count_kv(_HEADS)
    writer.add_rope_dimension_count(_WIDTH // _HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(len(texts))
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_F16)
    writer.add_tokenizer_model("llama")
    writer.add_token_list(texts)
    writer.add_token_scores(scores)
    writer.add_token_types(types)
    writer.add_unk_token_id(_UNKNOWN)
    writer.add_bos_token_id(_BEGIN)
    writer.add_eos_token_id(_END)
    writer.add_add_space_prefix(False)
    writer.add_chat_template(CHAT_TEMPLATE)

    random = np.random.default_rng(seed)

    def matrix(name: str, rows: int, columns: int) -> None:
        values = random.standard_normal((rows, columns), dtype=np.float32) / np.sqrt(columns)
        writer.add_tensor(name, values.astype(np.float16))

    def norm(name: str) -> None:
        writer.add_tensor(name, np.ones(_WIDTH, dtype=np.float32))

    matrix("token_embd.weight", len(texts), _WIDTH)
    norm("output_norm.weight")
    matrix("output.weight", len(texts), _WIDTH)
    for layer in range(_LAYERS):
        block = f"blk.{layer}."
        norm(block + "attn_norm.weight")
        for projection in ("attn_q", "attn_k", "attn_v", "attn_output"):
            matrix(f"{block}{projection}.weight", _WIDTH, _WIDTH)
        norm(block + "ffn_norm.weight")
        matrix(block + "ffn_gate.weight", _FEED_FORWARD, _WIDTH)
        matrix(block + "ffn_up.weight", _FEED_FORWARD, _WIDTH)
        matrix(block + "ffn_down.weight", _WIDTH, _FEED_FORWARD)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
