#!/usr/bin/env bash
# Installs what a build of tilec needs on Debian 12, from Debian's own packages.
set -euo pipefail

build_packages=(
  cmake ninja-build g++ ccache
  llvm-22-dev libmlir-22-dev mlir-22-tools llvm-22-tools liblld-22-dev
  libboost1.81-dev libtbb-dev nlohmann-json3-dev libcli11-dev libfmt-dev libxxhash-dev
  libzstd-dev zlib1g-dev
  libgtest-dev libbenchmark-dev
  python3 python3-numpy git
)
dev_packages=(clang-format-14 clang-tidy-22)
sanitize_packages=(clang-22 libclang-rt-22-dev)
browser_packages=(chromium)

usage() {
  cat <<EOF
Usage: cmake/install-deps.sh [--dev] [--sanitize] [--browser] [--check]

Installs the Debian 12 packages that building and testing tilec needs, and nothing where all are
there. Needs root or sudo, and the package sources of a default Debian 12 (main, updates and
security; LLVM 22 comes from security).

  --dev       also what checking the style of sources needs: ${dev_packages[*]}
  --sanitize  also what the presets asan and fuzz need: ${sanitize_packages[*]}
  --browser   also what looks at pages in a browser (tests/e2e/fusion/check_page.py): ${browser_packages[*]}
  --check     install nothing; list what is missing, and fail if something is
  --help      this text

Packages: ${build_packages[*]}
EOF
}

fail() {
  printf 'install-deps.sh: error: %s\n' "$1" >&2
  shift
  [ $# -eq 0 ] || printf '  %s\n' "$@" >&2
  exit 1
}

# missing_of PACKAGE...: those of them that are not installed.
missing_of() {
  local package
  for package in "$@"; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] ||
      printf '%s ' "$package"
  done
}

# without_candidate PACKAGE...: those of them that apt knows no version of.
without_candidate() {
  local package
  for package in "$@"; do
    LC_ALL=C apt-cache policy "$package" | grep '^  Candidate: [^(]' >/dev/null ||
      printf '%s ' "$package"
  done
}

packages=("${build_packages[@]}")
check=0
for argument in "$@"; do
  case $argument in
    --dev) packages+=("${dev_packages[@]}") ;;
    --sanitize) packages+=("${sanitize_packages[@]}") ;;
    --browser) packages+=("${browser_packages[@]}") ;;
    --check) check=1 ;;
    -h | --help) usage; exit 0 ;;
    *) usage >&2; fail "unknown option '$argument'" ;;
  esac
done

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  fail "this machine has no apt" \
    "The script is for Debian 12. Elsewhere install LLVM and MLIR 22 and what the other packages hold:" \
    "${packages[*]}"
fi

read -ra missing <<<"$(missing_of "${packages[@]}")"
if [ ${#missing[@]} -eq 0 ]; then
  echo "install-deps.sh: all ${#packages[@]} packages are there"
  exit 0
fi
if [ $check -eq 1 ]; then
  printf 'missing: %s\n' "${missing[@]}"
  exit 1
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null ||
    fail "installing packages needs root, and there is no sudo" \
      "As root run: apt-get update && apt-get install ${missing[*]}"
  as_root=(sudo)
fi
apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300)

echo "install-deps.sh: installing from Debian: ${missing[*]}"
echo "+ apt-get update"
update_log=$(mktemp)
trap 'rm -f "$update_log"' EXIT
# A source that cannot be reached is a warning for apt; whether it matters shows in the candidates.
"${apt[@]}" update </dev/null 2>&1 | tee "$update_log" ||
  echo "install-deps.sh: apt-get update failed; going on with the package lists that are there" >&2

read -ra unknown <<<"$(without_candidate "${missing[@]}")"
if [ ${#unknown[@]} -gt 0 ]; then
  if grep -Eq '^(Err|W: Failed|E:)' "$update_log"; then
    fail "apt could not fetch its package lists (see above), and knows no ${unknown[*]}" \
      "Is this machine online? Packages can also be installed by hand; then this script does nothing."
  fi
  # shellcheck disable=SC1091
  system=$(. /etc/os-release && printf '%s' "${PRETTY_NAME:-this system}")
  fail "the package sources of $system have no ${unknown[*]}" \
    "A default Debian 12 has these lines, of which LLVM 22 needs the last, in /etc/apt/sources.list:" \
    "deb http://deb.debian.org/debian bookworm main" \
    "deb http://deb.debian.org/debian bookworm-updates main" \
    "deb http://deb.debian.org/debian-security bookworm-security main"
fi

echo "+ apt-get install --no-install-recommends ${missing[*]}"
"${apt[@]}" install -y --no-install-recommends "${missing[@]}" </dev/null ||
  fail "apt-get install failed (see above)"

read -ra missing <<<"$(missing_of "${packages[@]}")"
[ ${#missing[@]} -eq 0 ] || fail "still missing: ${missing[*]}"
echo "install-deps.sh: all ${#packages[@]} packages are there"
