/** Private images and fast-growing logs on Debian's containerd and docker-registry. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { silentLogger } from '@podwright/base';
import { connectCri } from '@podwright/cri';
import type { Pod } from '@podwright/kube-api';
import type { KubeletOptions } from '@podwright/kubelet';
import { writeExampleArchive } from '../../scripts/example-image.ts';
import { DockerRegistry } from '../images/docker-registry.ts';
import { assertNearLimit, FAST_WRITER, watchFastLog } from './fast-log.fixture.ts';
import { type RealKubelet, startRealKubelet } from './real-kubelet.fixture.ts';
import { docker, onDocker, type RestartableRuntime, startOtherRuntime } from './suite-runtime.fixture.ts';

let runtime: RestartableRuntime;
let registry: DockerRegistry;
before(async () => {
  runtime = await startOtherRuntime('im');
  registry = await DockerRegistry.start(runtime.scratch, { password: true });
  const archive = join(runtime.scratch, 'private.tar');
  await writeExampleArchive(archive);
  const login = ['--dest-creds', 'me:secret', '--dest-tls-verify=false'];
  for (const name of ['one', 'two']) {
    const copy = ['copy', '-q', ...login, `oci-archive:${archive}`, `docker://${registry.host}/${name}:1`];
    execFileSync('skopeo', copy, { stdio: 'pipe' });
  }
  const cri = await connectCri({ runtimeEndpoint: runtime.endpoint, logger: silentLogger });
  await cri.image.removeImage({ image: { image: runtime.image } });
  cri.close();
});
after(async () => {
  await registry[Symbol.asyncDispose]();
  await runtime.stop();
});

async function start(context: TestContext, given: Partial<KubeletOptions> = {}): Promise<RealKubelet> {
  const kubelet = await startRealKubelet(runtime, given);
  context.after(() => kubelet.close());
  return kubelet;
}

const dockerConfig = (password: string) =>
  JSON.stringify({ auths: { [`${registry.host}/o`]: { username: 'me', password } } });

const secret = (name: string, password: string) => `---
apiVersion: v1
kind: Secret
metadata: {name: ${name}}
type: kubernetes.io/dockerconfigjson
stringData: {.dockerconfigjson: ${JSON.stringify(dockerConfig(password))}}
`;

const pod = (name: string, image: string, rest = '') => `apiVersion: v1
kind: Pod
metadata: {name: ${name}}
spec:
  terminationGracePeriodSeconds: 1
  ${rest}
  containers: [{name: main, image: "${registry.host}/${image}", imagePullPolicy: IfNotPresent, command: [sleep, "1000"]}]
`;

const runs = ({ status }: Pod) => status?.containerStatuses?.[0]?.state?.running !== undefined;
const waiting = ({ status }: Pod) => status?.containerStatuses?.[0]?.state?.waiting;

test('a private image pulled by one pod can be used only by pods that could pull it themselves', async (context) => {
  const kubelet = await start(context);
  await kubelet.apply('a.yaml', pod('owner', 'one:1', 'imagePullSecrets: [{name: good}]') + secret('good', 'secret'));
  await kubelet.pod('owner', runs);
  await kubelet.apply('b.yaml', pod('stranger', 'one:1'));
  await kubelet.apply('c.yaml', pod('liar', 'one:1', 'imagePullSecrets: [{name: bad}]') + secret('bad', 'wrong'));
  for (const name of ['stranger', 'liar']) {
    const { message = '' } = waiting(await kubelet.pod(name, (one) => waiting(one)?.reason === 'ImagePullBackOff'))!;
    assert.match(
      message,
      new RegExp(`^Back-off pulling image "${registry.host}/one:1": ErrImagePull: .*(401|auth)`, 'is'),
    );
  }
  await kubelet.restart();
  await kubelet.apply('d.yaml', pod('friend', 'one:1', 'imagePullSecrets: [{name: good}]'));
  await kubelet.pod('friend', runs);
  const events = kubelet.handle.events().filter(({ involvedObject }) => involvedObject.name === 'friend');
  assert.ok(
    events.some(({ message }) => message.endsWith('already present on machine and can be accessed by the pod')),
  );
});

test('a private image is pulled with a password from a credential provider', async (context) => {
  const auth = { [registry.host]: { username: 'me', password: 'secret' } };
  const apiVersion = 'credentialprovider.kubelet.k8s.io/v1';
  const answer = { kind: 'CredentialProviderResponse', apiVersion, cacheKeyType: 'Registry', auth };
  const helper = join(runtime.scratch, 'helper');
  writeFileSync(helper, `#!/bin/sh\necho '${JSON.stringify(answer)}'\n`);
  chmodSync(helper, 0o755);
  const provider = { name: 'helper', apiVersion, matchImages: [registry.host], defaultCacheDuration: '1m' };
  const config = join(runtime.scratch, 'providers.yaml');
  const kind = { apiVersion: 'kubelet.config.k8s.io/v1', kind: 'CredentialProviderConfig' };
  writeFileSync(config, JSON.stringify({ ...kind, providers: [provider] }));
  const images = {
    ...(await start(context)).options.images,
    credentialProviders: { config, directory: runtime.scratch },
  };
  const kubelet = await start(context, { images });
  await kubelet.apply('a.yaml', pod('served', 'two:1'));
  await kubelet.pod('served', runs);
});

test('the log of a container that writes 50 MB/s exceeds its limit by at most a tenth', async (context) => {
  const maxSizeBytes = 10 << 20;
  const kubelet = await start(context, {
    containerLog: { maxSizeBytes, maxFiles: 3, maxWorkers: 1, monitorPeriodMs: 10_000 },
  });
  await kubelet.apply(
    'a.yaml',
    pod('talker', 'two:1', 'imagePullSecrets: [{name: good}]').replace(
      '[sleep, "1000"]',
      JSON.stringify(['sh', '-c', FAST_WRITER]),
    ) + secret('good', 'secret').replace('/o', ''),
  );
  await kubelet.pod('talker', runs);
  const { uid } = kubelet.handle.pods()[0]!.metadata;
  const directory = join(kubelet.options.podLogsDir, `default_talker_${uid}`, 'main');
  if (onDocker) {
    await kubelet.until('the log exceeds its limit', () => statSync(join(directory, '0.log')).size > 2 * maxSizeBytes);
    return assert.deepEqual(readdirSync(directory), docker.logFiles);
  }
  const log = await watchFastLog(directory, maxSizeBytes);
  context.diagnostic(JSON.stringify(log));
  assertNearLimit(log);
});
