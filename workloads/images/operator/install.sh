#!/bin/sh
# Adds the project itself to /opt/dbbench and compiles everything there.
set -eu
# The build backend is locked by the development requirements, in a folder of its own.
pip install --no-cache-dir --no-compile --only-binary=:all: --require-hashes --target /build/backend \
    -r /build/requirements-build.txt
# Into a folder of its own first: pip leaves out scripts where the target has a bin already.
PYTHONPATH=/build/backend pip install --no-cache-dir --no-compile --no-deps --no-build-isolation \
    --target /build/project /build/operator
cp -a /build/project/. /opt/dbbench/
test -x /opt/dbbench/bin/dbbench-operator
test -x /opt/dbbench/bin/dbbench
# Scripts name the Python that ran pip; the same one is in the final image.
sed -i '1s|^#!.*|#!/usr/bin/python3|' /opt/dbbench/bin/*
find /opt/dbbench -type d \( -name tests -o -name test \) -prune -exec rm -rf {} +
# File times are not kept by every builder: bytecode that does not depend on them.
python3.11 -m compileall -q --invalidation-mode unchecked-hash /opt/dbbench
