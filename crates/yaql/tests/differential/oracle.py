"""Answers requests of the JSON Lines protocol with Python YAQL, the reference implementation.

Responses are those of the reference with one exception: sets are iterated in insertion order. The
reference leaves that order unspecified, and nondeterministic responses cannot be compared.
"""

import collections.abc  # Python YAQL uses this module without importing it.
import datetime
import itertools
import json
import math
import os
import re
import resource
import signal
import sys
import time
import warnings

os.environ['TZ'] = 'UTC'
time.tzset()
warnings.simplefilter('ignore')

import yaql
import yaql.legacy
from yaql.language import contexts, utils
from yaql.standard_library import collections as collections_library
from yaql.standard_library import strings

CPU_SECONDS = 3
MEMORY_BYTES = 2 << 30
TAG = '$yaql'
OPTIONS = {
    'yaql.limitIterators': 10000,
    'yaql.memoryQuota': 104857600,
    'yaql.convertTuplesToLists': True,
    'yaql.convertSetsToLists': True,
}


class OrderedSet(frozenset):
    """A frozenset with insertion order."""

    __slots__ = ('order',)

    def __new__(cls, items=()):
        order = tuple(dict.fromkeys(items))
        self = super().__new__(cls, order)
        self.order = order
        return self

    def __iter__(self):
        return iter(self.order)

    def __sizeof__(self):
        return super().__sizeof__() - 8  # the slot

    def _ordered(self, result, *sources):
        position = {}
        for index, item in enumerate(itertools.chain(self, *sources)):
            position.setdefault(item, index)
        return OrderedSet(sorted(result, key=position.__getitem__))

    def union(self, other):
        return self._ordered(super().union(other), other)

    def intersection(self, other):
        # CPython takes the elements from the smaller set, or from the view if there is one.
        source = self if isinstance(other, frozenset) and len(other) > len(self) else other
        result = super().intersection(other)
        return OrderedSet(item for item in source if item in result)

    def difference(self, other):
        return self._ordered(super().difference(other))

    def symmetric_difference(self, other):
        return self._ordered(super().symmetric_difference(other), other)


class OrderedMutableSet(set):
    """A set of a request, before input conversion."""

    def __init__(self, items):
        items = tuple(dict.fromkeys(items))
        super().__init__(items)
        self.order = items

    def __iter__(self):
        return iter(self.order)


OrderedSet.__name__ = OrderedSet.__qualname__ = 'frozenset'
for module in (collections_library, utils):
    module.frozenset = OrderedSet
strings.set = OrderedSet
utils.set = OrderedMutableSet


class Timeout(BaseException):
    """Not an Exception, so that no handler in Python YAQL catches it."""


def on_timeout(_signal, _frame):
    raise Timeout()


def decode(value):
    if isinstance(value, list):
        return [decode(item) for item in value]
    if not isinstance(value, dict):
        return value
    tag = value.get(TAG)
    if tag is None:
        return {key: decode(item) for key, item in value.items()}
    if tag == 'dict':
        pairs = ((decode(key), decode(item)) for key, item in value['items'])
        return {tuple(key) if isinstance(key, list) else key: item for key, item in pairs}
    if tag in DECODERS:
        return DECODERS[tag](value)
    raise ValueError('unknown tag %r' % (tag,))


DECODERS = {
    'datetime': lambda value: datetime.datetime.fromisoformat(value['value']),
    'timespan': lambda value: datetime.timedelta(microseconds=value['us']),
    'float': lambda value: float(value['value']),
    'set': lambda value: OrderedMutableSet(decode(value['items'])),
    'tuple': lambda value: tuple(decode(value['items'])),
    'iterator': lambda value: iter(decode(value['items'])),
}


def encode(value):
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {TAG: 'float', 'value': repr(value)}
    if isinstance(value, list):
        return [encode(item) for item in value]
    if isinstance(value, collections.abc.Mapping):
        if all(isinstance(key, str) and key != TAG for key in value):
            return {key: encode(item) for key, item in value.items()}
        return {TAG: 'dict', 'items': [[encode(key), encode(item)] for key, item in value.items()]}
    if isinstance(value, tuple):
        return {TAG: 'tuple', 'items': [encode(item) for item in value]}
    if isinstance(value, collections.abc.Set):
        return {TAG: 'set', 'items': [encode(item) for item in value]}
    if isinstance(value, datetime.datetime):
        return {TAG: 'datetime', 'value': value.isoformat()}
    if isinstance(value, datetime.timedelta):
        return {TAG: 'timespan', 'us': value // datetime.timedelta(microseconds=1)}
    if isinstance(value, re.Pattern):
        letters = {'i': re.IGNORECASE, 'm': re.MULTILINE, 's': re.DOTALL}
        flags = ''.join(letter for letter, flag in letters.items() if value.flags & flag)
        return {TAG: 'regex', 'pattern': value.pattern, 'flags': flags}
    if isinstance(value, contexts.ContextBase):
        return {TAG: 'context'}
    if value is utils.NO_VALUE:
        return {TAG: 'novalue'}
    if callable(value):
        return {TAG: 'callable'}
    return {TAG: 'opaque', 'type': type(value).__name__}


def class_name(error):
    if isinstance(error, re.error):
        return 're.error'
    if isinstance(error, ValueError) and type(error).__module__.startswith('dateutil'):
        return 'ValueError'
    return type(error).__name__


class Reference:
    def __init__(self):
        self.engines = {}
        self.contexts = {}

    def evaluate(self, request):
        options = dict(OPTIONS, **(request.get('options') or {}))
        delegates = bool(options.pop('delegates', False))
        legacy = options.pop('legacy', False)
        if legacy == 'full':
            options['yaql.convertTuplesToLists'] = False
            options['yaql.iterableDicts'] = True
        key = delegates, legacy == 'full'
        if key not in self.engines:
            factory = yaql.legacy if legacy == 'full' else yaql
            self.engines[key] = factory.YaqlFactory(allow_delegates=delegates).create({})
        expression = self.engines[key].copy(options)(request['expr'])
        key = delegates, bool(legacy)
        if key not in self.contexts:
            module = yaql.legacy if legacy else yaql
            self.contexts[key] = module.create_context(delegates=delegates)
        context = self.contexts[key].create_child_context()
        converted = options.get('yaql.convertInputData', True)
        for name, value in (request.get('vars') or {}).items():
            value = decode(value)
            context[name] = utils.convert_input_data(value) if converted else value
        return expression.evaluate(data=decode(request.get('data')), context=context)

    def answer(self, request):
        signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)
        try:
            return json.dumps({'ok': encode(self.evaluate(request))})
        except Timeout:
            return json.dumps({'err': 'Timeout', 'msg': ''})
        except Exception as error:
            return json.dumps({'err': class_name(error), 'msg': str(error)})
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)


def main():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    signal.signal(signal.SIGPROF, on_timeout)
    reference = Reference()
    for line in sys.stdin:
        sys.stdout.write(reference.answer(json.loads(line)) + '\n')
        sys.stdout.flush()


if __name__ == '__main__':
    main()
