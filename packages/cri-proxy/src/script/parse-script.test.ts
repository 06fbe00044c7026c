import assert from 'node:assert/strict';
import { test } from 'node:test';
import { criMethodNames } from '../methods/cri-methods.ts';
import { parseScript } from './parse-script.ts';

const parse = (text: string) => parseScript(text, { name: 'slow.yaml', methods: criMethodNames() });

test('a rule has patterns, a count and effects', () => {
  const script = parse(`
seed: 7
rules:
- {method: RunPodSandbox, pod: shop/*, delay: 3m, jitter: 1.5s, skip: 1, count: 2}
- method: '*Container'
  container: app
  probability: 0.5
  fail: {code: not_found, message: no such container, when: after}
- {method: GetContainerEvents, cut: {what: connection, afterMessages: 3}, repeat: 1, reorder: 4, within: 200ms}
- {method: StopContainer, fail: unavailable, delayAnswer: 1h1m}
`);
  assert.equal(script.seed, 7);
  const none = { delayMs: 0, jitterMs: 0, fail: undefined, cut: undefined, repeat: 0, reorder: undefined };
  const nothing = { ...none, delayAnswerMs: 0 };
  const always = { pod: undefined, container: undefined, skip: 0, count: Number.POSITIVE_INFINITY, probability: 1 };
  assert.deepEqual(script.rules, [
    {
      ...{ ...always, line: 4, method: 'RunPodSandbox', pod: 'shop/*', skip: 1, count: 2 },
      effects: { ...nothing, delayMs: 180_000, jitterMs: 1500 },
    },
    {
      ...{ ...always, line: 5, method: '*Container', container: 'app', probability: 0.5 },
      effects: { ...nothing, fail: { code: 'not_found', message: 'no such container', when: 'after' } },
    },
    {
      ...{ ...always, line: 9, method: 'GetContainerEvents' },
      effects: {
        ...nothing,
        ...{ cut: { what: 'connection', afterMessages: 3 }, repeat: 1, reorder: { size: 4, withinMs: 200 } },
      },
    },
    {
      ...{ ...always, line: 10, method: 'StopContainer' },
      effects: {
        ...nothing,
        fail: { code: 'unavailable', message: 'injected by the script of the CRI proxy', when: 'before' },
        delayAnswerMs: 3_660_000,
      },
    },
  ]);
});

test('errors name the file and the line', () => {
  const check = (text: string, message: string | RegExp) =>
    assert.throws(() => parse(text), { code: 'invalid_argument', message });
  check('', 'slow.yaml:1: fields are needed: seed, rules');
  check('rules: 1', 'slow.yaml:1: a list of rules is needed: "rules:"');
  check(
    'rules:\n- 1',
    'slow.yaml:2: fields are needed: method, pod, container, skip, count, probability, delay, jitter, delayAnswer, fail, cut, repeat, reorder, within',
  );
  check('rules:\n- {delay: 1s}', 'slow.yaml:2: the rule has no "method"');
  const rule = (more: string) => `# a comment\nrules:\n- method: RunPodSandbox\n  ${more}`;
  check(rule('dely: 1s'), 'slow.yaml:4: unknown field "dely"; did you mean "delay"?');
  check(rule('skip: 1'), /^slow\.yaml:3: the rule changes nothing/);
  check(rule('delay: soon'), /^slow\.yaml:4: delay: a duration such as/);
  check(rule('delay: 25h'), /^slow\.yaml:4: delay: a duration such as/);
  check(rule('delay: -1s'), /^slow\.yaml:4: delay: a duration such as/);
  check(rule('fail: gone'), 'slow.yaml:4: code: "gone" is unknown');
  check(rule('fail: unavailble'), 'slow.yaml:4: code: "unavailble" is unknown; did you mean "unavailable"?');
  check(rule('cut: {what: rope}'), /^slow\.yaml:4: what: "rope" is unknown: call or connection is needed/);
  check(rule('count: 0'), 'slow.yaml:4: count: a whole number from 1 up is needed');
  check(rule('probability: 2'), 'slow.yaml:4: probability: a number from 0 to 1 is needed');
  check(rule('delay: [1s]'), 'slow.yaml:4: delay: a text is needed');
  check(rule('delay: 1s\n  delay: 2s'), /^slow\.yaml:5: Map keys must be unique/);
  check('rules: [', /^slow\.yaml:1: /);
  check(
    'rules:\n- {method: RunPodSandBox, delay: 1s}',
    'slow.yaml:2: method: "RunPodSandBox" is not a method of the CRI; did you mean "RunPodSandbox"?',
  );
  check('#'.repeat(2 ** 20 + 1), /longer than/);
  check(`rules:\n${'- {method: Status, delay: 1s}\n'.repeat(1001)}`, 'slow.yaml:2: more than 1000 rules');
});
