#!/bin/sh
# Runs on each node of the task, in the folder of this script.
set -eu
echo "{name}: $*"
