import { readFileSync } from 'node:fs';
import { decodeObject, encodeObject, isProtobufObject, Schema } from '@podwright/kube-schema';

// Prints a protobuf-encoded Kubernetes object as JSON. If no file is given, encodes an example object and prints that.
const schema = await Schema.load();
const [path] = process.argv.slice(2);
const settings = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings' }, data: { color: 'green' } };
const bytes = path === undefined ? encodeObject(schema, settings) : readFileSync(path);
if (isProtobufObject(bytes)) console.log(JSON.stringify(decodeObject(schema, bytes)));

const { singular, shortNames, verbs } = schema.resource('apps', 'v1', 'deployments')!;
console.log(`${singular} (${shortNames}): ${verbs.join(' ')}`);
