"""The child process in which the embedded model runs; it ends when its parent does.

Started by `EmbeddedProvider` only. The first line on its standard input is the key that callers
must show; when that input ends, so does the process. Its first line of output is its URL.
"""

import argparse
import os
import sys
import threading
from typing import Any


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", required=True)
    parser.add_argument("--name", required=True)
    parser.add_argument("--context", type=int, required=True)
    parser.add_argument("--slots", type=int, required=True)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--temperature", type=float)
    parser.add_argument("--repeat-penalty", type=float)
    args = parser.parse_args()
    # The library may print: its words go with the errors, ours alone to the parent.
    ours = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    key = sys.stdin.buffer.readline().decode().strip()
    # From here on, because loading takes a while and the parent may be gone before it is done.
    watch = threading.Thread(target=_exit_with_parent, daemon=True)
    watch.start()
    serving = _serve(args, key)
    ours.write(serving.listening_address + "\n")
    ours.flush()
    watch.join()


def _exit_with_parent() -> None:
    sys.stdin.buffer.read()
    os._exit(0)


def _serve(args: argparse.Namespace, key: str) -> Any:
    import xllamacpp  # type: ignore[import-untyped]

    params = xllamacpp.CommonParams()
    params.model.path = args.model
    params.model_alias = [args.name]
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [key]
    params.n_ctx = args.context
    params.n_parallel = args.slots
    # One cache for all slots, so that a lone conversation has the whole window.
    params.kv_unified = True
    params.cpuparams.n_threads = args.threads
    params.cpuparams_batch.n_threads = args.threads
    params.use_jinja = True
    if args.temperature is not None:
        params.sampling.temp = args.temperature
    if args.repeat_penalty is not None:
        params.sampling.penalty_repeat = args.repeat_penalty
    params.ui = False
    params.verbosity = 0
    return xllamacpp.Server(params)


if __name__ == "__main__":
    main()
