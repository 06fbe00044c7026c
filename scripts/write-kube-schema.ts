/**
 * Writes the data of `packages/kube-schema`:
 *   node scripts/write-kube-schema.ts DIRECTORY [SOURCES]
 *
 * DIRECTORY (default $PODWRIGHT_KUBERNETES_DATA) contains Kubernetes' `schema.json`, `resources.json` and `protobuf.json`. With SOURCES, a
 * directory containing the sources of the Go modules k8s.io/{api,apimachinery,apiextensions-apiserver,kube-aggregator}, first writes
 * `go-fields.txt`.
 */
import { writeFileSync } from 'node:fs';
import { GO_FIELDS, goFieldsText, schemaData, schemaModule } from './kube-schema/schema-data.ts';

const [directory = process.env.PODWRIGHT_KUBERNETES_DATA, sources] = process.argv.slice(2);
if (directory === undefined) throw new Error('name the directory with schema.json, resources.json and protobuf.json');
if (sources !== undefined) writeFileSync(GO_FIELDS, goFieldsText(directory, sources));
writeFileSync('packages/kube-schema/src/gen/kubernetes.js', schemaModule(schemaData(directory)));
