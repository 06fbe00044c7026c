/**
 * Compares the API server with a kube-apiserver: sends the same requests to both and compares the responses field by field.
 *
 *     node tests/api/compare/main.ts [CASE…]
 *
 * PODWRIGHT_COMPARE_OURS and PODWRIGHT_COMPARE_THEIRS are admin kubeconfigs for the two servers. PODWRIGHT_KUBERNETES_DATA, if set, is a
 * directory of upstream's example objects, which are then used too. Prints a summary and writes all differences to PODWRIGHT_COMPARE_REPORT
 * as JSON lines.
 */
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { allCases, type Case, prepare } from './cases.ts';
import { type Difference, exchangeDifferences } from './differences.ts';
import { Connection, type Exchange, Transcript } from './transcript.ts';

type Found = { name: string; request: Exchange['request']; differences: Difference[] };

const connectionOf = (variable: string): Connection => {
  const path = process.env[variable];
  if (path === undefined) throw new Error(`${variable} must name a kubeconfig`);
  return new Connection(readFileSync(path, 'utf8'));
};

async function transcriptOf(connection: Connection, one: Case): Promise<Transcript> {
  const transcript = new Transcript(connection);
  try {
    await one.run(transcript);
  } catch (error) {
    transcript.failures.push(String(error));
  }
  return transcript;
}

const connections = ['PODWRIGHT_COMPARE_OURS', 'PODWRIGHT_COMPARE_THEIRS'].map(connectionOf);
const wanted = process.argv.slice(2);
const cases = allCases().filter(({ name }) => wanted.length === 0 || wanted.some((part) => name.includes(part)));
await Promise.all(connections.map((connection) => prepare(new Transcript(connection))));
const report = process.env.PODWRIGHT_COMPARE_REPORT;
if (report !== undefined) writeFileSync(report, '');
const found: Found[] = [];
let exchanges = 0;
let failed = 0;
for (const one of cases) {
  const [ours, theirs] = (await Promise.all(connections.map((connection) => transcriptOf(connection, one)))) as [
    Transcript,
    Transcript,
  ];
  for (const [index, exchange] of ours.exchanges.entries()) {
    exchanges += 1;
    const other = theirs.exchanges[index];
    if (other === undefined) continue;
    const differences = exchangeDifferences(exchange, other);
    if (differences.length === 0) continue;
    const difference = { name: one.name, request: exchange.request, differences };
    found.push(difference);
    if (report !== undefined) appendFileSync(report, `${JSON.stringify(difference)}\n`);
  }
  const failures = [
    ...ours.failures.map((text) => `ours: ${text}`),
    ...theirs.failures.map((text) => `theirs: ${text}`),
  ];
  if (ours.exchanges.length !== theirs.exchanges.length)
    failures.push(`ours: ${ours.exchanges.length} exchanges, theirs: ${theirs.exchanges.length}`);
  if (failures.length === 0) continue;
  failed += 1;
  console.log(`${one.name}: ${failures.join('; ')}`);
}
for (const connection of connections) connection.close();
const differing = new Set(found.map(({ name }) => name)).size;
console.log(`${cases.length} cases, ${differing} differ; ${exchanges} exchanges, ${found.length} differ`);
if (failed > 0) {
  console.log(`${failed} cases did not run to their end`);
  process.exitCode = 1;
}
