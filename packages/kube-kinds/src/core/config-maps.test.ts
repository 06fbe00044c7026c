import { describe, it } from 'node:test';
import { configMaps } from './config-maps.ts';
import { KindRules } from './kind-rules.fixture.ts';

const rules = await KindRules.of('core.v1.ConfigMap', configMaps);
const IMMUTABLE = 'Forbidden: field is immutable when `immutable` is set';
const MAX = 1024 * 1024;
const bytes = (count: number) => Buffer.alloc(count).toString('base64');

describe('a ConfigMap', () => {
  it('has valid keys, each in one of its maps', () => {
    rules.checkCreate({ data: { 'a-b_c.D': '', '.a': '' }, binaryData: { b: bytes(3) } }, []);
    rules.checkCreate({ data: { '..': 'x', 'b!': 'y' }, binaryData: { 'b!': '', c: '' } }, [
      'data[..]: Invalid value: "..": must not be \'..\'',
      'data[b!]: Invalid value: "b!": a valid config key must consist of alphanumeric characters',
      'data[b!]: Invalid value: "b!": duplicate of key present in binaryData',
      'binaryData[b!]: Invalid value: "b!": a valid config key',
    ]);
  });

  it('has at most 1 MiB of data', () => {
    rules.checkCreate({ data: { a: 'x'.repeat(MAX - 4) }, binaryData: { b: bytes(4) } }, []);
    rules.checkCreate({ data: { a: 'x'.repeat(MAX - 4) }, binaryData: { b: bytes(5) } }, [
      ': Too long: may not be more than 1048576 bytes',
    ]);
    rules.checkCreate({ data: { a: 'é'.repeat(MAX / 2 + 1) } }, [': Too long']);
  });

  it('does not change once it is immutable', () => {
    const old = { immutable: true, data: { a: '1' }, binaryData: { b: bytes(1) } };
    rules.checkUpdate(old, old, []);
    rules.checkUpdate({ data: { a: '2' } }, old, [
      `immutable: ${IMMUTABLE}`,
      `data: ${IMMUTABLE}`,
      `binaryData: ${IMMUTABLE}`,
    ]);
    rules.checkUpdate({ immutable: true }, { data: { a: '1' } }, []);
  });
});
