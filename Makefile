# Meson builds; this file only gives the everyday names. `make demo` and `make test` need nothing first.
MESON_ARGS = -Dworkers=true
PREFIX = /usr/local

# hours of time, for `make soak`
SOAK_HOURS ?= 2

.PHONY: build demo test matrix soak bench format lint man install clean setup

build: setup
	tools/configure build $(MESON_ARGS)
	ninja -C build

demo: build
	exec build/src/howdah demo

test:
	tools/setup test
	tools/test

matrix:
	tools/setup test
	tools/matrix

soak:
	tools/setup test
	tools/soak $(SOAK_HOURS)

bench: build
	bench/run

format:
	tools/setup test
	tools/format

lint:
	tools/setup test
	tools/lint
	tools/tidy

man: build
	tools/man

install:
	tools/configure build $(MESON_ARGS) --prefix=$(PREFIX)
	ninja -C build
	meson install -C build --no-rebuild

clean:
	rm -rf build build-*

setup:
	tools/setup build
