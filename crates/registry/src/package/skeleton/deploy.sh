#!/bin/sh
# Runs on each node of the task, in the directory of this script: deployment_scripts/ is copied to the node first.
set -eu
echo "{name}: $*"
