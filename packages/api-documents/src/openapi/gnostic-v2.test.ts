import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Schema } from '@podwright/kube-schema';
import { documentV2 } from './document-v2.ts';
import { encodeGnosticV2 } from './gnostic-v2.ts';

/** A decoded protobuf message: the values of each field, by its number. Nested messages are decoded on demand. */
class Message {
  readonly #fields = new Map<number, (number | Buffer)[]>();

  constructor(bytes: Buffer) {
    let at = 0;
    const varint = () => {
      let [value, factor] = [0, 1];
      for (; ; factor *= 128) {
        const byte = bytes[at++]!;
        value += (byte & 0x7f) * factor;
        if (byte < 0x80) return value;
      }
    };
    while (at < bytes.length) {
      const tag = varint();
      const value = tag % 8 === 1 ? 8 : varint();
      const content = tag % 8 === 0 ? value : bytes.subarray(at, at + value);
      if (content !== value) at += value;
      const field = Math.floor(tag / 8);
      const values = this.#fields.get(field) ?? [];
      values.push(content);
      this.#fields.set(field, values);
    }
  }

  numbers(): number[] {
    return [...this.#fields.keys()].sort((a, b) => a - b);
  }

  number(field: number): unknown {
    return this.#fields.get(field)?.[0];
  }

  text(field: number): string {
    return this.texts(field)[0] ?? '';
  }

  texts(field: number): string[] {
    return (this.#fields.get(field) ?? []).map(String);
  }

  all(field: number): Message[] {
    return (this.#fields.get(field) ?? []).map((content) => new Message(content as Buffer));
  }

  /** Returns the nested message at a path of field numbers. Follows the first element of lists. */
  at(...path: number[]): Message {
    return path.reduce((message: Message, field) => message.all(field)[0]!, this);
  }

  /** Returns the value of the entry with this name in a list of named messages. */
  named(field: number, name: string): Message {
    return this.all(field)
      .find((entry) => entry.text(1) === name)!
      .at(2);
  }
}

const schema = await Schema.load();
const resources = schema.resources.filter(({ group }) => group === '' || group === 'apps');
const json = documentV2(schema, resources, { version: 'v1.36.0', describe: () => 'About it.' });
const document = new Message(Buffer.from(encodeGnosticV2(JSON.parse(JSON.stringify(json)))));

describe('the protobuf form of OpenAPI v2', () => {
  it('has the version and what the document is about', () => {
    assert.deepEqual(
      [document.text(1), document.at(2).text(1), document.at(2).text(2)],
      ['2.0', 'Kubernetes', 'v1.36.0'],
    );
    assert.equal(document.at(13).named(1, 'BearerToken').at(2).text(3), 'header');
    assert.equal(document.at(12, 1).text(1), 'BearerToken');
  });

  it('has definitions with properties, references and extensions', () => {
    const container = document.at(9).named(1, 'io.k8s.api.core.v1.Container');
    assert.deepEqual(
      [container.at(22).text(1), container.texts(19), container.text(4)],
      ['object', ['name'], 'About it.'],
    );
    const ports = container.at(25).named(1, 'ports');
    assert.equal(ports.at(22).text(1), 'array');
    assert.equal(ports.at(23, 1).text(1), '#/definitions/io.k8s.api.core.v1.ContainerPort');
    assert.equal(ports.named(31, 'x-kubernetes-patch-merge-key').text(2), '"containerPort"\n');
    assert.equal(ports.named(31, 'x-kubernetes-list-map-keys').text(2), '["containerPort","protocol"]\n');
    const labels = document.at(9).named(1, 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta').at(25).named(1, 'labels');
    assert.equal(labels.at(21, 1, 22).text(1), 'string');
  });

  it('has the limits of values', () => {
    const limited = {
      type: 'integer',
      title: 'A',
      minimum: 1.5,
      maxLength: 300,
      exclusiveMaximum: true,
      enum: [1, 'a'],
    };
    const more = { pattern: '^a', example: 1, externalDocs: { url: 'http://a' }, additionalProperties: true };
    const encoded = encodeGnosticV2({ definitions: { a: { ...limited, ...more } } });
    const found = new Message(Buffer.from(encoded)).at(9).named(1, 'a');
    assert.deepEqual([found.text(3), found.text(13), found.at(29).text(2)], ['A', '^a', 'http://a']);
    assert.deepEqual([found.number(8), found.number(11), found.at(21).number(2)], [1, 300, 1]);
    assert.equal((found.number(9) as Buffer).readDoubleLE(), 1.5);
    assert.deepEqual(
      found.all(20).map((one) => one.text(2)),
      ['1\n', '"a"\n'],
    );
    assert.equal(found.at(30).text(2), '1\n');
  });

  it('may be long', () => {
    const names = Array.from({ length: 50_000 }, (_, index) => [`type${index}`, { type: 'string' }]);
    assert.ok(encodeGnosticV2({ definitions: Object.fromEntries(names) }).length > 1_000_000);
  });

  it('has paths with operations and parameters', () => {
    const item = document.at(8).named(2, '/apis/apps/v1/namespaces/{namespace}/deployments/{name}');
    assert.deepEqual(item.numbers(), [2, 3, 5, 8, 9]);
    const patch = item.at(8);
    assert.equal(patch.text(5), 'patchAppsV1NamespacedDeployment');
    assert.equal(
      patch.named(13, 'x-kubernetes-group-version-kind').text(2),
      '{"group":"apps","version":"v1","kind":"Deployment"}\n',
    );
    const [body, dryRun] = patch.all(8).map((parameter) => parameter.at(1));
    assert.deepEqual([body!.at(1).text(2), body!.at(1).number(4)], ['body', 1]);
    assert.match(body!.at(1, 5).text(1), /\.Patch$/);
    assert.deepEqual([dryRun!.at(2, 3).text(4), dryRun!.at(2, 3).text(6)], ['dryRun', 'string']);
    const [name] = item.all(9).map((parameter) => parameter.at(1, 2, 4));
    assert.deepEqual([name!.text(4), name!.text(5), name!.number(1)], ['name', 'string', 1]);
    assert.match(patch.at(9).named(1, '200').at(1, 2, 1).text(1), /\.apps\.v1\.Deployment$/);
  });
});
