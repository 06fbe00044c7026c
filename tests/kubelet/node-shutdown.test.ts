/** Graceful node shutdown with a real systemd-logind and system bus, on a simulated host. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Pod } from '@podwright/kube-api';
import { EXAMPLE_IMAGE_NAME } from '../../scripts/example-image.ts';
import { Reader } from '../documents/reader.fixture.ts';
import { type Bundle, buildBundle } from '../pods/bundle.fixture.ts';

let bundle: Bundle;
before(async () => {
  bundle = await buildBundle();
});
after(() => bundle.remove());

const STAND_IN = new URL('systemd-stand-in.ts', import.meta.url).pathname;
const CONFIGURATION = `[kubelet]
shutdown_grace_period_seconds = 20
shutdown_critical_pods_seconds = 10
`;

const pod = (name: string, rest = '') => `apiVersion: v1
kind: Pod
metadata: {name: ${name}}
spec:
  hostNetwork: true
  terminationGracePeriodSeconds: 5${rest}
  volumes: [{name: out, hostPath: {path: /run/ended, type: DirectoryOrCreate}}]
  containers:
  - name: app
    image: ${EXAMPLE_IMAGE_NAME}
    volumeMounts: [{name: out, mountPath: /out}]
    command: [sh, -c, 'trap "echo ${name} >> /out/order; exit 0" TERM; while :; do sleep 0.05; done']
`;

test('pods are stopped in order before the host shuts down, and started again if the shutdown fails', async () => {
  await using host = await Reader.start(bundle);
  const ok = async (line: string) => {
    const { code, out } = await host.run(line);
    assert.equal(code, 0, `${line}: ${out}`);
    return out;
  };
  await host.write('/run/more.toml', CONFIGURATION);
  await ok('cat /run/more.toml >> /etc/podwright/config.toml');
  const doctor = async () => /(\S+) +shutdown +(.*)/.exec((await host.run('podwright doctor')).out)?.slice(1);
  assert.match(
    (await doctor())!.join(' '),
    /^MISSING pods are not stopped before the host shuts down: connect to the system/,
  );

  await ok('mkdir -p /run/dbus /run/systemd && dbus-daemon --system --fork --nopidfile');
  await ok('setsid -f sh -c "echo \\$\\$ > /run/logind.pid; exec /lib/systemd/systemd-logind" > /run/logind.log 2>&1');
  await host.until(async () => (await host.run('busctl status org.freedesktop.login1')).code === 0);
  await ok(
    `setsid -f sh -c 'echo $$ > /run/stand-in.pid; exec node ${STAND_IN} $(cat /run/logind.pid)' > /run/systemd.log 2>&1`,
  );
  await host.until(async () => (await host.run('cat /run/systemd.log')).out.includes('ready'));
  assert.match((await doctor())!.join(' '), /^ok systemd-logind waits for pods to end/);

  await host.startNode();
  await ok(`podwright load ${bundle.image}`);
  await host.write(
    '/run/pods.yaml',
    `${pod('vital', '\n  priorityClassName: system-node-critical')}---\n${pod('web')}`,
  );
  await ok('podwright apply -f /run/pods.yaml');
  await ok('podwright wait --for=condition=Ready pod/vital pod/web');
  const locks = async () => (await host.run('COLUMNS=200 systemd-inhibit --list')).out;
  await host.until(async () =>
    /kubelet +0 +root .*shutdown +Kubelet needs time to handle node shutdown +delay/.test(await locks()),
  );
  assert.match(await ok('cat /etc/systemd/logind.conf.d/99-kubelet.conf'), /^InhibitDelayMaxSec=20$/m);

  const pods = async (): Promise<Pod[]> => JSON.parse(await ok('podwright get pods -o json')).items;
  const manager = 'org.freedesktop.login1.Manager';
  await ok(`dbus-send --system --type=signal /org/freedesktop/login1 ${manager}.PrepareForShutdown boolean:true`);
  await ok(`busctl call org.freedesktop.login1 /org/freedesktop/login1 ${manager} PowerOff b false`);
  await host.until(async () => (await host.run('cat /run/systemd.log')).out.includes('StartUnit'));
  assert.equal(await ok('cat /run/ended/order'), 'web\nvital\n');
  for (const { status } of await pods()) {
    assert.deepEqual([status?.phase, status?.reason], ['Failed', 'Terminated']);
    const condition = status?.conditions?.find(({ type }) => type === 'DisruptionTarget');
    assert.equal(condition?.message, 'Pod was terminated in response to imminent node shutdown.');
  }
  await host.write('/run/late.yaml', pod('late'));
  await ok('podwright apply -f /run/late.yaml');
  const late = async () => (await pods()).find(({ metadata }) => metadata.name === 'late')?.status;
  await host.until(async () => (await late())?.reason === 'NodeShutdown');
  assert.match(await ok('podwright get nodes -o json'), /node is shutting down/);

  await ok('kill -USR1 $(cat /run/stand-in.pid)'); // the shutdown fails
  const areBack = () => host.run('podwright wait --for=condition=Ready --timeout=1s pod/vital pod/web');
  await host.until(async () => (await areBack()).code === 0);
  await host.until(async () => (await locks()).includes('kubelet'));
  assert.doesNotMatch(await ok('podwright get nodes -o json'), /node is shutting down/);
  assert.equal((await late())?.reason, 'NodeShutdown', 'a rejected pod stays rejected');
  await ok('kill -9 $(cat node.pid)');
  await host.until(async () => !(await locks()).includes('kubelet'));
});
