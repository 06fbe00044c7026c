import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Strategies } from '@podwright/kube-kinds';
import { matchesFields, parseFieldSelector } from './field-selector.ts';
import { matchesLabels } from './label-requirements.ts';
import { parseLabelSelector } from './label-selector.ts';
import { ServedKind } from './served-kind.ts';
import { decoded, refusal, schema } from './test-registries.fixture.ts';

describe('a label selector', () => {
  const LABELS = { a: '1', b: 'x', empty: '', in: 'notin', 'x.example/y': 'z', big: '9007199254740993' };
  const check = (selector: string, expected: boolean) =>
    assert.equal(matchesLabels(parseLabelSelector(selector), LABELS), expected, selector);

  it('has equality, sets, existence and order', () => {
    for (const selector of ['', ' ', 'a', 'a=1', 'a == 1', 'a,b', 'a in (0,1),b=x', 'x.example/y=z', 'c!=1', '!c'])
      check(selector, true);
    for (const selector of ['c', 'a=2', 'a!=1', '!a', 'a in (2, 3)', 'a notin (1)', 'c=', 'c in (x)', 'a=1,b=y'])
      check(selector, false);
    for (const selector of ['c notin (x)', 'a notin (2)', 'a!=2', 'a>0', 'a<2', 'big>9007199254740992', '! c'])
      check(selector, true);
    for (const selector of ['a>1', 'a<1', 'c>0', 'b>0']) check(selector, false);
  });

  it('has empty values, and keywords as keys and values', () => {
    for (const selector of ['empty=', 'empty', 'empty in ()', 'empty in (,x)', 'empty in (x,)', 'empty=,a=1'])
      check(selector, true);
    for (const selector of ['in=notin', 'in in (notin)', 'in in (in,notin)', 'in']) check(selector, true);
    check('a in ()', false);
    check('constructor', false);
  });

  it('with a wrong syntax is rejected in upstream’s words', async () => {
    const checkError = async (selector: string, expected: string | RegExp) => {
      const { code, message } = await refusal(() => parseLabelSelector(selector));
      assert.equal(code, 400);
      if (typeof expected === 'string') assert.equal(message, expected, selector);
      else assert.match(message, expected, selector);
    };
    const requirement = 'unable to parse requirement: ';
    await checkError('!!', `${requirement}found '!', expected: identifier`);
    await checkError('=a', "found '=', expected: !, identifier, or 'end of string'");
    await checkError('a,', "found '', expected: identifier after ','");
    await checkError('a=b c', "found 'c', expected: ',' or 'end of string'");
    await checkError('a b', `${requirement}found 'b', expected: in, notin, =, ==, !=, gt, lt`);
    await checkError('a in b', `${requirement}found 'b' expected: '('`);
    await checkError('a in (b', `${requirement}found '', expected: ',' or ')'`);
    await checkError('a in (b c)', `${requirement}found 'c', expected: ',' or ')'`);
    await checkError('a in (=)', `${requirement}found '=', expected: ',', ')' or identifier`);
    await checkError('a=(', `${requirement}found '(', expected: identifier`);
    await checkError('-', /^unable to parse requirement: <nil>: Invalid value: "-": name part must consist of/);
    await checkError('a=-', /: values\[0\]\[a\]: Invalid value: "-": a valid label must be an empty string or/);
    await checkError(
      'a>b',
      `${requirement}values[0]: Invalid value: "b": for 'Gt', 'Lt' operators, the value must be an integer`,
    );
  });

  it('of any text ends soon', () => {
    const long = `a in (${','.repeat(100_000)})${',b'.repeat(10_000)}`;
    check(long, false);
    assert.throws(() => parseLabelSelector('!'.repeat(100_000)));
  });
});

describe('a field selector', () => {
  const strategies: Strategies = {
    pods: { selectableFields: { 'spec.nodeName': ({ spec }) => (spec as { nodeName: string }).nodeName } },
  };
  const kind = (group: string, plural: string) =>
    new ServedKind(schema.resource(group, 'v1', plural)!, { schema, strategies });
  const pods = kind('', 'pods');
  const object = decoded('v1', 'Pod', { metadata: { name: 'a', namespace: 'x' }, spec: { nodeName: 'n,=\\m' } });
  const check = (selector: string, expected: boolean) =>
    assert.equal(matchesFields(pods, parseFieldSelector(pods, selector), object), expected, selector);

  it('has equality of known fields, with escaped values', () => {
    for (const selector of ['', 'metadata.name=a', 'metadata.name==a', 'metadata.namespace=x', 'metadata.name!=b', ','])
      check(selector, true);
    for (const selector of ['metadata.name=b', 'metadata.name!=a', 'metadata.name=a,metadata.namespace=y'])
      check(selector, false);
    check('spec.nodeName=n\\,\\=\\\\m', true);
    check('spec.nodeName=n\\,\\=\\\\m,metadata.name=a', true);
    check('spec.nodeName=n', false);
  });

  it('with a wrong syntax or unknown fields is rejected in upstream’s words', async () => {
    const checkError = async (given: ServedKind, selector: string, expected: string) => {
      const { code, message } = await refusal(() => parseFieldSelector(given, selector));
      assert.deepEqual([code, message], [400, expected], selector);
    };
    await checkError(pods, 'a', "invalid selector: 'a'; can't understand 'a'");
    await checkError(pods, 'spec.x=1', 'field label not supported: spec.x');
    await checkError(pods, 'constructor=1', 'field label not supported: constructor');
    await checkError(pods, 'metadata.name=\\a', 'invalid field selector: invalid escape sequence: \\a');
    await checkError(pods, 'metadata.name=a\\', 'invalid field selector: invalid escape sequence: \\');
    await checkError(pods, 'metadata.name=a=b', 'invalid field selector: unescaped character in value: 61');
    await checkError(
      kind('', 'configmaps'),
      'data.x=1',
      '"data.x" is not a known field selector: only "metadata.name", "metadata.namespace"',
    );
    // the field selectors of kinds without selectable fields of their own accept metadata.namespace, even if the kind is cluster-scoped
    assert.equal(parseFieldSelector(kind('', 'nodes'), 'metadata.namespace=1').length, 1);
  });
});
