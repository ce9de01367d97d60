"""Benchmarks Python YAQL, the reference implementation, with the cases in a file.

Usage: python bench_reference.py FILE

Prints {"engine": ..., "cases": {NAME: {"parse_ns", "eval_ns", "sha256"}}}. A time is the least processor time
of several rounds. An evaluation starts with a fresh context and a document that is converted already, which is
what a long-running service would do. The digest is of the result as JSON with sorted keys, without spaces, in
ASCII.
"""

import collections.abc  # noqa: F401 (Python YAQL uses it without importing it)
import hashlib
import importlib.metadata
import json
import platform
import sys
import time

import yaql
from yaql.language import utils

OPTIONS = {
    'yaql.limitIterators': 10000,
    'yaql.memoryQuota': 100 * 1024 * 1024,
    'yaql.convertTuplesToLists': True,
    'yaql.convertSetsToLists': True,
}
# Processor time budget of one measurement; exceeded if fewer than ROUNDS_MIN rounds fit.
BUDGET_NS = 1_000_000_000
ROUNDS_MIN = 3
ROUNDS_MAX = 200


def least_time(function):
    """Returns the minimum processor time of a call in nanoseconds, and the result of the last call."""
    least = None
    spent = 0
    rounds = 0
    while rounds < ROUNDS_MIN or (rounds < ROUNDS_MAX and spent < BUDGET_NS):
        started = time.process_time_ns()
        result = function()
        took = time.process_time_ns() - started
        least = took if least is None else min(least, took)
        spent += took
        rounds += 1
    return least, result


def digest(value):
    text = json.dumps(value, sort_keys=True, separators=(',', ':'), ensure_ascii=True)
    return hashlib.sha256(text.encode('ascii')).hexdigest()


def measure(engine, root_context, expression, document):
    parse_ns, statement = least_time(lambda: engine(expression))

    def evaluate():
        context = root_context.create_child_context()
        context['$'] = document
        return statement.evaluate(context=context)

    eval_ns, result = least_time(evaluate)
    return {'parse_ns': parse_ns, 'eval_ns': eval_ns, 'sha256': digest(result)}


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding='utf-8') as file:
        data = json.load(file)
    engine = yaql.YaqlFactory().create(OPTIONS)
    root_context = yaql.create_context()
    documents = {name: utils.convert_input_data(document) for name, document in data['docs'].items()}
    cases = {}
    for case in data['cases']:
        answer = measure(engine, root_context, case['expr'], documents[case['doc']])
        if case.get('sha256', answer['sha256']) != answer['sha256']:
            sys.exit('case %s: the result is not the one the file expects' % case['name'])
        cases[case['name']] = answer
    name = 'yaql %s on Python %s' % (importlib.metadata.version('yaql'), platform.python_version())
    json.dump({'engine': name, 'cases': cases}, sys.stdout, indent=1)
    print()


if __name__ == '__main__':
    main()
