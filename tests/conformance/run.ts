/**
 * Runs a given critest (the validation suite in kubernetes-sigs/cri-tools) against a runtime from this checkout, with its own directories;
 * see README.md. Exits with 1 if a spec fails or anything is left behind on the host.
 *   node tests/conformance/run.ts --critest FILE --registry-config DIR [options] [-- more critest arguments]
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { RuntimeUnderTest } from '../fixtures/runtime-under-test.ts';
import { readReport, type Totals } from './report.ts';

const { values: given, positionals: more } = parseArgs({
  allowPositionals: true,
  options: {
    critest: { type: 'string' },
    'registry-config': { type: 'string' },
    'oci-runtime': { type: 'string', default: '' },
    output: { type: 'string', default: 'critest-output' },
    parallel: { type: 'string', default: '1' },
    runs: { type: 'string', default: '1' },
    seed: { type: 'string', default: '1' },
    skip: { type: 'string', multiple: true, default: [] },
    websocket: { type: 'boolean', default: false },
  },
});
/** NRI options with a longer request timeout: the suite's plugin delays requests for more than the default of 2 s. */
const NRI_OPTIONS = { pluginPath: '', pluginConfigPath: '', registrationTimeoutMs: 5000, requestTimeoutMs: 20_000 };

const { critest, 'registry-config': registryConfig } = given;
if (critest === undefined || registryConfig === undefined) {
  console.error(
    'usage: run.ts --critest FILE --registry-config DIR; see README.md in its directory for further options',
  );
  process.exit(2);
}
const { problems, left } = await runAll({ critest: resolve(critest), registryConfigDir: resolve(registryConfig) });
for (const line of left) console.log(`left on the host: ${line}`);
process.exit(problems + left.length > 0 ? 1 : 0);

/** All runs share one runtime, so that later runs are affected by anything that earlier ones leave behind. */
async function runAll(paths: { critest: string; registryConfigDir: string }) {
  const runtime = new RuntimeUnderTest();
  const { registryConfigDir } = paths;
  const nriSocket = join(runtime.place.directory, 'nri', 'nri.sock');
  const nri = { ...NRI_OPTIONS, socketPath: nriSocket };
  await runtime.start({ registryConfigDir, ociRuntime: given['oci-runtime'], nri }, { load: false });
  let problems = 0;
  let totals: Totals | undefined;
  for (let run = 0; run < Number(given.runs); run++) {
    const seed = Number(given.seed) + run;
    const startedAt = performance.now();
    totals = await runSuite(paths.critest, { socket: runtime.place.options.socket, nriSocket }, seed);
    const { passed, failed, skipped } = totals;
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    console.log(`seed ${seed}: ${passed} passed, ${failed.length} failed, ${skipped.length} skipped in ${seconds} s`);
    for (const { name, why } of failed) console.log(`  failed: ${name}: ${why}`);
    problems += failed.length + (passed === 0 ? 1 : 0);
  }
  const reasons = Object.groupBy(totals?.skipped ?? [], ({ why }) => why);
  for (const [why, specs = []] of Object.entries(reasons)) console.log(`skipped ${specs.length}: ${why}`);
  const { images } = await runtime.cri.image.listImages({});
  for (const { id } of images) await runtime.cri.image.removeImage({ image: { image: id } });
  runtime.image = 'none'; // the fixture removes the image that it loads for other tests
  return { problems, left: await runtime.end() };
}

/** Runs critest once, and writes its log and report to a separate directory. */
async function runSuite(
  program: string,
  { socket, nriSocket }: { socket: string; nriSocket: string },
  seed: number,
): Promise<Totals> {
  const directory = resolve(given.output, `seed-${seed}`);
  const report = join(directory, 'report.json');
  mkdirSync(directory, { recursive: true });
  rmSync(report, { force: true });
  const log = openSync(join(directory, 'critest.log'), 'w');
  const endpoint = `unix://${socket}`;
  const websocket = ['exec', 'attach', 'portforward'].map((kind) => `--websocket-${kind}`);
  const args = [
    ...[`--runtime-endpoint=${endpoint}`, `--image-endpoint=${endpoint}`, `--nri-socket=${nriSocket}`],
    ...(given.parallel === '1' ? [] : [`--parallel=${given.parallel}`]), // with 1, ginkgo would pass the flag to go
    ...[`--ginkgo.seed=${seed}`, `--ginkgo.json-report=${report}`, '--ginkgo.vv', '--ginkgo.no-color'],
    ...given.skip.map((pattern) => `--ginkgo.skip=${pattern}`),
    ...(given.websocket ? websocket : []),
    ...more,
  ];
  await once(spawn(program, args, { stdio: ['ignore', log, log] }), 'exit');
  closeSync(log);
  return readReport(report);
}
