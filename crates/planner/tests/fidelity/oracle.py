"""Computes the expected plans of this folder, independently of the planner.

A second, deliberately simple implementation of planning: it evaluates every expression for every task and node with the
reference implementation of YAQL, and shares no code with the planner. Where the planner deviates from its predecessor on
purpose, so does this program: conditions are evaluated before parameters, `policy: any` selects the node with the lowest
uid among those that have the task, and `condition: false` is kept.

    python oracle.py           write expected/CASE.txt for every case
    python oracle.py --check   compare with the recorded files; exit with 1 if one differs

Requires the packages `yaql==3.2.0`, `python-dateutil==2.9.0.post0` and `PyYAML==6.0.3`.
"""

import collections.abc
import copy
import difflib
import functools
import json
import pathlib
import re
import sys

import yaml
import yaql
from yaql.language import specs
from yaql.language import utils
from yaql.language import yaqltypes

FOLDER = pathlib.Path(__file__).parent
MASTER, SYNC = 'master', 'sync'
PLACEHOLDERS = {'CLUSTER_ID': '12', 'MASTER_IP': '10.0.0.1'}
ENGINE = yaql.YaqlFactory().create({
    'yaql.limitIterators': 10000,
    'yaql.memoryQuota': 100 * 1024 * 1024,
    'yaql.convertTuplesToLists': True,
    'yaql.convertSetsToLists': True,
})


# Expressions: the functions that compare states


class Undefined:
    """The value of an expression that fails on the old state. It differs from everything and is true."""


UNDEFINED = Undefined()


def plain(value):
    """Consumes iterators and replaces immutable containers, so that values can be compared. Sets stay sets."""
    if value is UNDEFINED or isinstance(value, (str, bytes)):
        return value
    if isinstance(value, collections.abc.Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, collections.abc.Set):
        return set(value)
    if isinstance(value, collections.abc.Iterable):
        return [plain(item) for item in value]
    return value


def on_new(expression, context):
    return plain(expression(context['$%new']))


def on_old(expression, context):
    try:
        return plain(expression(context['$%old']))
    except Exception:
        return UNDEFINED


def differs(expression, context):
    new, old = on_new(expression, context), on_old(expression, context)
    return old is UNDEFINED or new != old


def difference(old, new):
    """What `new` has and `old` has not, and the reverse, one level deep. Both sides come from one comparison."""
    if type(old) is not type(new):
        return new, old
    if isinstance(new, dict):
        return tuple(
            {key: value for key, value in one.items() if key not in other or other[key] != value}
            for one, other in [(new, old), (old, new)])
    if isinstance(new, set):
        return new - old, old - new
    if isinstance(new, str) and old != new:
        return difference(old.splitlines(), new.splitlines())
    if isinstance(new, list):
        added, deleted = [], []
        for kind, old_start, old_end, new_start, new_end in difflib.SequenceMatcher(None, old, new).get_opcodes():
            if kind != 'equal':
                added += new[new_start:new_end]
                deleted += old[old_start:old_end]
        return added, deleted
    return (new, old) if old != new else (None, None)


def root_context():
    context = yaql.create_context()

    @specs.parameter('e', yaqltypes.Lambda())
    def new(e, context):
        return on_new(e, context)

    @specs.parameter('e', yaqltypes.Lambda())
    def old(e, context):
        return on_old(e, context)

    @specs.parameter('e', yaqltypes.Lambda())
    def changed(e, context):
        return differs(e, context)

    @specs.parameter('e', yaqltypes.Lambda())
    def changed_any(context, *e):
        return any(differs(item, context) for item in e)

    @specs.parameter('e', yaqltypes.Lambda())
    def changed_all(context, *e):
        return all(differs(item, context) for item in e)

    @specs.parameter('e', yaqltypes.Lambda())
    def added(e, context):
        past, now = on_old(e, context), on_new(e, context)
        return now if past is UNDEFINED else difference(past, now)[0]

    @specs.parameter('e', yaqltypes.Lambda())
    def deleted(e, context):
        past, now = on_old(e, context), on_new(e, context)
        return None if past is UNDEFINED else difference(past, now)[1]

    @specs.method
    def is_undef(x):
        return x is UNDEFINED

    @specs.method
    def to_json(x):
        return json.dumps(plain(x))

    for name, function in [
            ('new', new), ('old', old), ('changed', changed), ('changedAny', changed_any),
            ('changedAll', changed_all), ('added', added), ('deleted', deleted), ('isUndef', is_undef),
            ('toJson', to_json)]:
        context.register_function(function, name=name)
    return context


ROOT = root_context()


@functools.lru_cache(maxsize=None)
def parsed(text):
    return ENGINE(text)


def overlay(base, top):
    if not isinstance(base, dict) or not isinstance(top, dict):
        return top
    return {**base, **{key: overlay(base[key], top[key]) if key in base else top[key] for key in top}}


class State:
    """What expressions of one task instance see."""

    def __init__(self, common, own, past):
        self.new = overlay(common, own)
        past = {} if past is None else overlay(*past)
        self.context = ROOT.create_child_context()
        for name, value in [('%new', self.new), ('%old', past), ('node', own), ('common', common)]:
            self.context['$' + name] = utils.convert_input_data(value)

    def evaluate(self, text):
        return parsed(text).evaluate(data=self.new, context=self.context.create_child_context())

    def is_true(self, text):
        return bool(plain(self.evaluate(text)))

    def render(self, value):
        """Computes a field: expressions are replaced by their values, placeholders in other texts are filled."""
        if isinstance(value, dict):
            if 'yaql_exp' in value:
                result = plain(self.evaluate(value['yaql_exp']))
                return sorted(result) if isinstance(result, set) else result
            return {key: item if key == 'regex' else self.render(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self.render(item) for item in value]
        if isinstance(value, str):
            return re.sub(r'\{(\w+)\}', lambda found: PLACEHOLDERS.get(found[1], found[0]), value)
        return value


# Conditions in the notation of legacy tasks


TOKEN = re.compile(r"""\s*(?:(==|!=|\(|\))|(-?\d+)|'([^']*)'|"([^"]*)"|([\w]*:[\w.-]+)|(\w+))""")


def rewrite(text):
    text = re.sub(r'settings:additional_components\.([\w-]+)(\.value)?(?![\w.-])', r'settings:\1.enabled', text)
    text = re.sub(r'settings:common\.([\w-]+)(\.value)?(?![\w.-])', r'settings:\1', text)
    return re.sub(r'(settings:[\w.-]+?)\.value(?![\w.-])', r'\1', text)


class Legacy:
    def __init__(self, text, document):
        self.tokens, at, text = [], 0, rewrite(text).strip()
        while at < len(text):
            found = TOKEN.match(text, at)
            self.tokens.append(found)
            at = found.end()
        self.models = {'settings': document, 'cluster': document.get('cluster')}

    def word(self):
        token = self.tokens[0] if self.tokens else None
        return token and (token[1] or token[6])

    def take(self, *words):
        if self.word() in words:
            return self.tokens.pop(0)
        return None

    def either(self):
        value = self.both()
        while self.take('or'):
            other = self.both()
            value = value or other
        return value

    def both(self):
        value = self.equal()
        while self.take('and'):
            other = self.equal()
            value = value and other
        return value

    def equal(self):
        value = self.member()
        while True:
            operator = self.take('==', '!=')
            if not operator:
                return value
            value = (value == self.member()) is (operator[1] == '==')

    def member(self):
        value = (not self.unary()) if self.take('not') else self.unary()
        while self.take('in'):
            value = value in self.unary()
        return value

    def unary(self):
        if self.take('('):
            value = self.either()
            assert self.take(')')
            return value
        token = self.tokens.pop(0)
        if token[2]:
            return int(token[2])
        if token[5]:
            model, _, path = token[5].partition(':')
            value = self.models[model]
            for key in path.split('.'):
                value = value.get(key)
            return value
        if token[6]:
            return {'true': True, 'false': False, 'null': None}[token[6]]
        return token[3] if token[3] is not None else token[4]


# Reasons: the parts of a condition that decided


def split(text, separator):
    """Splits at a top-level keyword or character, outside brackets and quotes."""
    parts, depth, quote, start, at = [], 0, None, 0, 0
    while at < len(text):
        letter = text[at]
        if quote:
            quote = None if letter == quote else quote
        elif letter in '\'"':
            quote = letter
        elif letter in '([{':
            depth += 1
        elif letter in ')]}':
            depth -= 1
        elif depth == 0 and re.match(separator, text[at:]) and (separator == ',' or text[at - 1] in ' )'):
            parts.append(text[start:at].strip())
            at = start = at + re.match(separator, text[at:]).end()
            continue
        at += 1
    return parts + [text[start:].strip()]


def is_wrapped(text):
    return text.startswith('(') and text.endswith(')') and len(split(text[1:-1] + ',', ',')) == 2 and balanced(text[1:-1])


def balanced(text):
    depth = 0
    for letter in text:
        depth += {'(': 1, ')': -1}.get(letter, 0)
        if depth < 0:
            return False
    return depth == 0


def deciding(text, state):
    text = text.strip()
    if re.match(r'let\(', text):
        return [text]
    for separator, ends_with in [(r'or\b', True), (r'and\b', False)]:
        parts = split(text, separator)
        if len(parts) > 1:
            # The operators associate to the left.
            for part in parts:
                if state.is_true(part) == ends_with:
                    return deciding(part, state)
            return [found for part in parts for found in deciding(part, state)]
    if re.match(r'not\b', text):
        return deciding(text[3:], state)
    if is_wrapped(text):
        return deciding(text[1:-1], state)
    call = re.match(r'(changed|changedAny|changedAll)\(', text)
    if not call or not balanced(text[call.end():-1]):
        return [text]
    arguments = split(text[call.end():-1], ',')
    changed = [argument for argument in arguments if state.evaluate('changed(%s)' % argument)]
    if call[1] == 'changedAll':
        unchanged = [argument for argument in arguments if argument not in changed]
        return unchanged[:1] or changed
    if changed:
        return changed[:1]
    return arguments if len(arguments) == 1 else [text]


# Planning


class Planner:
    def __init__(self, tasks, cluster, case):
        self.case, self.request = case, case.get('request') or {}
        self.common = cluster['common']
        self.nodes = {node['uid']: node for node in self.selected(cluster['nodes'])}
        self.tasks = {task['id']: task for task in tasks}
        self.documents = {uid: node['document'] for uid, node in self.nodes.items()}
        self.documents[MASTER] = {'uid': MASTER, 'roles': [MASTER]}
        self.documents[SYNC] = {}
        self.past = self.past_states(cluster)
        self.choices = set()

    def selected(self, nodes):
        if self.request.get('nodes') is not None:
            return [node for node in nodes if node['uid'] in self.request['nodes']]
        if self.case.get('node_filter'):
            text = '$.where(%s).select($.id)' % self.case['node_filter']
            chosen = ENGINE(text).evaluate(
                data=[node['record'] for node in nodes], context=yaql.create_context().create_child_context())
            return [node for node in nodes if node['record']['id'] in chosen]
        return [node for node in nodes if takes_part(node['record'])]

    def past_states(self, cluster):
        """By task and node, the common and own documents of the last success."""
        if self.case.get('past') is None or self.request.get('force'):
            return {}
        past = self.case['past']
        common = copy.deepcopy(cluster['common'])
        own = copy.deepcopy(self.documents)
        for change in past.get('changes', []):
            keys = change['path'].split('.')
            document = common if keys.pop(0) == 'common' else own.get(keys.pop(0), {})
            for key in keys[:-1]:
                document = document.setdefault(key, {})
            if change.get('absent'):
                document.pop(keys[-1], None)
            else:
                document[keys[-1]] = change['value']
        states = {}
        for task in self.tasks:
            for uid in self.documents:
                if uid not in past.get('new_nodes', []):
                    states[task, uid] = common, own[uid]
        for exception in past.get('tasks', []):
            key = exception['task'], exception['node']
            states.pop(key, None)
            if exception['past'] == 'now' and key[1] in self.documents:
                states[key] = self.common, self.documents[key[1]]
        return states

    def state(self, task, uid):
        return State(self.common, self.documents[uid], self.past.get((task, uid)))

    def resolve(self, names):
        """The nodes with these roles or tags."""
        if isinstance(names, list):
            return set().union(*[self.resolve(name) for name in names]) if names else set()
        if names == '*':
            return set(self.nodes)
        if names == MASTER:
            return {MASTER}
        if not isinstance(names, str):
            return set()
        if len(names) > 1 and names[0] == names[-1] == '/':
            pattern = re.compile(names[1:-1])
            return {uid for uid, node in self.nodes.items() if any(pattern.match(tag) for tag in node['tags'])}
        return {uid for uid, node in self.nodes.items() if names in node['tags']}

    def place(self):
        common = State(self.common, {}, None)
        places, self.groups = {}, []
        for name, task in self.tasks.items():
            field = next((key for key in ('tags', 'roles', 'role', 'groups') if key in task), None)
            places[name] = {SYNC} if task['type'] == 'stage' else self.resolve(common.render(task.get(field)))
        for name, task in self.tasks.items():
            if task['type'] != 'group':
                continue
            uids = places.pop(name)
            if not uids:
                continue
            for member in task.get('tasks', []):
                places[member] |= uids
            tolerance = common.render(task.get('fault_tolerance'))
            self.groups.append((name, sorted(uids, key=int), tolerated(tolerance, len(uids))))
        return places

    def plan(self):
        places = self.place()
        self.instances = {(name, uid) for name, uids in places.items() for uid in uids}
        self.decisions, self.edges = {}, set()
        for name, uid in sorted(self.instances):
            task, state = self.tasks[name], self.state(name, uid)
            self.decisions[name, uid] = self.decide(task, state)
            for kind, own_first in [
                    ('requires', False), ('required_for', True), ('cross_depends', False), ('cross_depended_by', True)]:
                value = task.get(kind, task.get(kind.replace('_', '-')))
                for other in self.related(kind, state.render(value) or [], name, uid):
                    pair = ((name, uid), other) if own_first else (other, (name, uid))
                    if pair[0] != pair[1]:
                        self.edges.add(pair)

    def decide(self, task, state):
        """The verdict, the deciding parts of the condition, and the details of an instance that runs."""
        if task['type'] == 'stage':
            return 'stage', [], None
        if task['type'] == 'skipped':
            return 'type_skipped', [], None
        if self.request.get('tasks') is not None and task['id'] not in self.request['tasks']:
            return 'task_not_selected', [], None
        verdict, parts = 'no_condition', []
        if 'condition' in task:
            condition = task['condition']
            if isinstance(condition, dict):
                value = plain(state.evaluate(condition['yaql_exp']))
                parts = deciding(condition['yaql_exp'], state)
            else:
                value = Legacy(condition, state.new).either() if isinstance(condition, str) else condition
            if not value:
                return 'condition_fails', parts, None
            verdict = 'condition_holds'
        fail_on_error = state.render(task.get('fail_on_error', True))
        return verdict, parts, (task['type'], state.render(task.get('parameters', {})), fail_on_error)

    def named(self, name, uids):
        if len(name) > 1 and name[0] == name[-1] == '/':
            pattern = re.compile(name[1:-1])
            return {(task, uid) for task, uid in self.instances if uid in uids and pattern.match(task)}
        return {(name, uid) for uid in uids if (name, uid) in self.instances}

    def related(self, kind, relations, task, uid):
        found = set()
        for relation in relations:
            if kind in ('requires', 'required_for'):
                found |= self.named(relation, {uid, SYNC})
                continue
            if not relation:
                continue
            role = relation.get('tags', relation.get('role', '*'))
            if role is None:
                found |= self.named(relation['name'], {SYNC})
            elif role == 'self':
                found |= self.named(relation['name'], {uid})
            else:
                others = self.named(relation['name'], self.resolve(role)) - {(task, uid)}
                if relation.get('policy') == 'any' and others:
                    chosen = min((other for _, other in others), key=int)
                    self.choices.add((task, relation['name'], chosen))
                    others = {other for other in others if other[1] == chosen}
                found |= others
        return found

    def text(self):
        """The plan as text, one line for each instance, its parameters and its predecessors."""
        lines = []
        before = {instance: set() for instance in self.instances}
        for first, then in self.edges:
            before[then].add(first)
        for name, uid in sorted(self.instances):
            verdict, parts, details = self.decisions[name, uid]
            reason = ''.join(' | ' + re.sub(r'\s', '', part) for part in parts)
            lines.append('%s@%s %s%s' % (name, uid, verdict, reason))
            if details:
                task_type, parameters, fail_on_error = details
                text = json.dumps(parameters, sort_keys=True, ensure_ascii=False, separators=(',', ':'))
                lines.append('  %s %s%s' % (task_type, text, '' if fail_on_error else ' may fail'))
            for first in sorted(before[name, uid]):
                lines.append('  after %s@%s' % first)
        for name, uids, n_tolerated in sorted(self.groups):
            lines.append('group %s of %s tolerates %d' % (name, ' '.join(uids), n_tolerated))
        for choice in sorted(self.choices):
            lines.append('choice %s: %s on %s' % choice)
        return '\n'.join(lines) + '\n'


def takes_part(record):
    """The default node filter."""
    if record.get('pending_addition') or record.get('pending_deletion'):
        return False
    return record['status'] in ('ready', 'provisioned', 'stopped') or record.get('error_type') == 'deploy'


def tolerated(value, total):
    if value is None:
        return total + 1
    found = re.fullmatch(r'\s*(-?\d+)\s*(%?)\s*', str(value))
    if not found:
        return total + 1
    number = int(found[1]) * total // 100 if found[2] else int(found[1])
    return max(0, total + number) if int(found[1]) < 0 else min(number, total + 1)


def main():
    load = lambda path: yaml.safe_load((FOLDER / path).read_text())
    tasks, failures = load('graph.yaml'), []
    for case in load('cases.yaml'):
        planner = Planner(tasks, load('clusters/%s.yaml' % case['cluster']), case)
        planner.plan()
        path, text = FOLDER / 'expected' / (case['name'] + '.txt'), planner.text()
        if '--check' not in sys.argv:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            failures.append(str(path))
    if failures:
        sys.exit('recorded plans differ: ' + ', '.join(failures))


if __name__ == '__main__':
    main()
