#!/usr/bin/env python3
"""What run.sh makes of its steps, on machines that have this and lack that; all but run.sh is made up.

    check_run.py RUN_SH

The programs of the bundle are replaced by scripts that pass, fail or find no device. Looks at the exit code, and
at the line that each step has in the table.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

GPU = 'echo "cuda:0: A GPU"; echo "    compute capability 9.0, --target=sm_90a"'
OLDER = 'echo "cuda:0: A GPU"; echo "    compute capability 8.0, --target=sm_80"'
NO_GPU = 'echo "cuda: none: there is no CUDA driver"'
PASSED = 'echo "[  PASSED  ] 3 tests."'
FAILED = 'echo "[  FAILED  ] 1 test, listed below:"; exit 1'
NOT_RUN = 'echo "NOT RUN ON A DEVICE"; echo "[  PASSED  ] 0 tests."'
SAMPLES = 'import sys; print(sys.argv[1:]); print("9 runs"); sys.exit({})'

# What stands where, the modules that Python finds, the steps, and what is expected: exit code, verdict by step.
CASES = [
    ("all passes", GPU, PASSED, 0, ["numpy", "torch", "cupy"], True, [], 0,
     dict.fromkeys(["driver", "faults", "samples", "ir", "artifacts", "fusion", "graphs", "losses", "types", "reports", "memcheck",
                    "racecheck", "initcheck", "synccheck", "bench", "compare"], "passed")),
    ("an older GPU", OLDER, PASSED, 0, ["numpy"], True, ["driver", "ir"], 0, {"driver": "passed", "ir": "SKIPPED"}),
    ("no GPU", NO_GPU, PASSED, 0, ["numpy"], True, [], 77, {}),
    ("tilec doesn't start", "exit 127", PASSED, 0, ["numpy"], True, [], 1, {}),
    ("a test fails", GPU, FAILED, 0, ["numpy"], True, ["driver", "samples"], 1,
     {"driver": "FAILED", "samples": "passed"}),
    ("the last fails", GPU, PASSED, 1, ["numpy"], True, ["driver", "samples"], 1,
     {"driver": "passed", "samples": "FAILED"}),
    ("the test finds no device", GPU, NOT_RUN, 0, [], True, ["driver"], 1, {"driver": "FAILED"}),
    ("no NumPy", GPU, PASSED, 0, [], True, [], 0,
     {"driver": "passed", "ir": "passed", "graphs": "passed", "losses": "passed",
      **dict.fromkeys(["faults", "samples", "types", "reports", "memcheck", "synccheck", "compare"], "SKIPPED")}),
    ("torch alone", GPU, PASSED, 0, ["numpy", "torch"], True, ["compare"], 0, {"compare": "SKIPPED"}),
    ("no sanitizer", GPU, PASSED, 0, ["numpy"], False, ["memcheck", "samples"], 0,
     {"memcheck": "SKIPPED", "samples": "passed"}),
    ("no such step", GPU, PASSED, 0, [], True, ["sample"], 2, {}),
]


def script(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/bash\n" + text + "\n")
    path.chmod(0o755)


def check(run_sh, place, devices, driver, code, modules, has_sanitizer, steps, expected_code, expected):
    bundle = place / "tilec-gpu"
    script(bundle / "tilec", devices)
    script(bundle / "runtime_cuda_device_test", driver)
    script(bundle / "fuzz_graphs", 'echo "500 passed, 0 failed"')
    (bundle / "tests/gpu").mkdir(parents=True)
    shutil.copy(run_sh, bundle / "tests/gpu/run.sh")
    (bundle / "run.sh").symlink_to("tests/gpu/run.sh")
    for name in ("e2e/run_samples.py", "e2e/fusion/check_fusion.py", "e2e/fusion/check_pins.py",
                 "e2e/check_types.py", "e2e/check_sums.py", "e2e/check_reports.py",
                 "gpu/check_faults.py", "gpu/check_ir.py", "gpu/sanitize.py", "bench/compare.py", "bench/matmul.py", "bench/fusion_loses.py"):
        (bundle / "tests" / name).parent.mkdir(parents=True, exist_ok=True)
        (bundle / "tests" / name).write_text(SAMPLES.format(code))
    script(bundle / "tests/gpu/bench.sh", "echo figures")
    modules_folder = place / "modules"
    modules_folder.mkdir()
    for module in modules:
        (modules_folder / f"{module}.py").touch()
    # -S: nothing but these modules and Python's own.
    script(place / "python", f'PYTHONPATH={modules_folder} exec {sys.executable} -S "$@"')
    script(place / "sanitizer", "true")
    environment = {"PATH": "/usr/bin:/bin", "PYTHON": str(place / "python"),
                   **({"COMPUTE_SANITIZER": str(place / "sanitizer")} if has_sanitizer else {})}
    ran = subprocess.run([bundle / "run.sh", "--out", place / "results", *steps], env=environment, cwd=place,
                         capture_output=True, text=True, timeout=120)
    text = ran.stdout + ran.stderr
    table = dict(re.findall(r"^(\w+) +(passed|FAILED|SKIPPED) ", ran.stdout.split("\ncuda:0")[-1], re.M))
    problems = [] if ran.returncode == expected_code else [f"exit code {ran.returncode}, not {expected_code}"]
    problems += [f"{step} is {table.get(step)}, not {verdict}" for step, verdict in expected.items()
                 if table.get(step) != verdict]
    if expected_code == 77 and "NOT RUN ON A GPU" not in text:
        problems.append("it doesn't say that it has tested nothing")
    return [f"{problem}\n{text}" for problem in problems]


def main():
    failures = 0
    for title, *case in CASES:
        if title in ("no sanitizer",) and list(pathlib.Path("/usr/local").glob("cuda*/bin/compute-sanitizer")):
            continue  # this machine has one, and it would be found
        with tempfile.TemporaryDirectory() as place:
            problems = check(sys.argv[1], pathlib.Path(place), *case)
        failures += bool(problems)
        for problem in problems:
            print(f"FAILED {title}: {problem}")
    print(f"{len(CASES)} cases, {failures} failed")
    return 1 if failures else 0


sys.exit(main())
