/** Pods whose timelines are compared: they start, crash, wait, become ready, and are changed and deleted. */
import { IMAGE, type Later, type Parts, STAY, shell } from './manifest-parts.ts';

type Life = Parts & { later?: Later[] };

const lives = (containers: string[], spec: string[] = [], later: Later[] = []): Life => ({
  containers: containers.map((one, index) => `{ name: ${'abcd'[index]}, ${IMAGE}, ${one} }`),
  spec,
  later,
});
const gone = (seconds: number): Later => ({ seconds });
const inits = (...containers: string[]) =>
  `initContainers: [${containers.map((one, index) => `{ name: i${index}, ${IMAGE}, ${one} }`).join(', ')}]`;
const exec = (script: string, period = 1) =>
  `{exec: {command: [sh, -c, ${JSON.stringify(script)}]}, periodSeconds: ${period}, failureThreshold: 2, timeoutSeconds: 5}`;
/** Returns a shell command that succeeds once the container has been running for this many seconds. */
const after = (seconds: number) => `test $(($(date +%s) - $(cat /tmp/began))) -ge ${seconds}`;
const BEGAN = shell(`date +%s > /tmp/began; trap 'exit 0' TERM; while :; do sleep 0.2; done`);
const STUBBORN = shell(`trap '' TERM; while :; do sleep 0.2; done`);
const COUNT = 'volumes: [{name: e, emptyDir: {}}]';
/** Returns a container command that fails this many times, then succeeds. */
const failing = (times: number) =>
  `${shell(`echo x >> /e/n; test $(wc -l < /e/n) -gt ${times}`)}, volumeMounts: [{name: e, mountPath: /e}]`;
/** A container command one of whose processes is OOM-killed, although the container exits with 0. */
const STARVED = `${shell('(x=a; while :; do x=$x$x; done); exit 0')}, resources: {limits: {memory: 16Mi}}`;
const GRACE = 'terminationGracePeriodSeconds: 4';

/** A pod with one container that is resized later. */
const resized = (first: string, steps: [seconds: number, resources: string][], more = ''): Life => {
  const parts = (resources: string) => lives([`${STAY}, resources: ${resources}${more}`]);
  return { ...parts(first), later: steps.map(([seconds, resources]) => ({ seconds, parts: parts(resources) })) };
};
const podResized = (first: string[], second: string[], container = ''): Life => ({
  ...lives([`${STAY}${container}`], first),
  later: [{ seconds: 10, parts: lives([`${STAY}${container}`], second) }],
});
const RESTARTS = (name: string) => `, resizePolicy: [{resourceName: ${name}, restartPolicy: RestartContainer}]`;

export const LIFE_PODS: Record<string, Life> = {
  start: lives([STAY], [], [gone(15)]),
  startslow: lives(
    [`${BEGAN}, startupProbe: ${exec(after(4))}, readinessProbe: ${exec(after(6))}, livenessProbe: ${exec('true')}`],
    [],
    [gone(40)],
  ),
  readyflips: lives(
    [`${BEGAN}, readinessProbe: ${exec(`${after(4)} && ! ${after(12)} || ${after(20)}`)}`],
    [],
    [gone(40)],
  ),
  readythrice: lives([
    `${BEGAN}, readinessProbe: {exec: {command: ["true"]}, initialDelaySeconds: 3, periodSeconds: 2, successThreshold: 3}`,
  ]),
  livekill: lives([`${BEGAN}, livenessProbe: ${exec(`! ${after(5)}`)}`], [GRACE]),
  livegrace: lives([
    `${STUBBORN}, livenessProbe: {exec: {command: ["false"]}, periodSeconds: 1, failureThreshold: 2, initialDelaySeconds: 3, terminationGracePeriodSeconds: 2}`,
  ]),
  startupkill: lives([`${STAY}, startupProbe: ${exec('false', 2)}`], [GRACE]),
  crashes: lives([shell('exit 1')]),
  finishes: lives([shell('sleep 5')]),
  crashgone: lives([shell('exit 1')], [], [gone(25)]),
  initcrash: lives([STAY], [inits(shell('exit 1'))], [gone(60)]),
  initretry: lives([STAY], [inits(failing(2)), COUNT]),
  initonfail: lives([STAY], [inits(failing(1)), COUNT, 'restartPolicy: OnFailure']),
  initgone: lives([STAY], [inits(STAY)], [gone(8)]),
  initnever: lives([STAY], [inits(shell('sleep 1'), shell('exit 3'), STAY), 'restartPolicy: Never']),
  initstarved: lives([STAY], [inits(STARVED)]),
  initstarvednever: lives([STAY], [inits(STARVED), 'restartPolicy: Never']),
  inittwo: lives([STAY], [inits(shell('sleep 2'), shell('sleep 2'))]),
  onfailure: lives([failing(2), shell('sleep 3')], [COUNT, 'restartPolicy: OnFailure']),
  job: lives([shell('sleep 3'), shell('sleep 6; exit 2')], ['restartPolicy: Never']),
  jobgone: lives([STAY, shell('sleep 2')], ['restartPolicy: Never'], [gone(10)]),
  jobfailgone: lives([shell('trap "exit 5" TERM; while :; do sleep 0.2; done')], ['restartPolicy: Never'], [gone(10)]),
  gracegone: lives([STUBBORN, STAY], [GRACE], [gone(8)]),
  prestopgone: lives([`${STAY}, lifecycle: {preStop: {exec: {command: [sleep, "2"]}}}`], [], [gone(8)]),
  prestoplate: lives(
    [`${STUBBORN}, lifecycle: {preStop: {sleep: {seconds: 10}}}`],
    ['terminationGracePeriodSeconds: 11'],
    [gone(8)],
  ),
  prestopover: lives([`${STAY}, lifecycle: {preStop: {exec: {command: [sleep, "20"]}}}`], [GRACE], [gone(8)]),
  prestopbad: lives([`${STAY}, lifecycle: {preStop: {httpGet: {port: 81, path: /x}}}`], [GRACE], [gone(8)]),
  prestopnone: lives([`${STAY}, lifecycle: {preStop: {exec: {command: [/no/such]}}}`], [GRACE], [gone(8)]),
  poststartslow: lives([`${STAY}, lifecycle: {postStart: {exec: {command: [sleep, "3"]}}}`, STAY], [], [gone(20)]),
  poststartsleep: lives([`${STAY}, lifecycle: {postStart: {sleep: {seconds: 2}}}`], [], [gone(20)]),
  poststarthttp: lives([`${STAY}, lifecycle: {postStart: {httpGet: {port: 81}}}`], [GRACE]),
  poststartnone: lives([`${STAY}, lifecycle: {postStart: {exec: {command: [/no/such]}}}`], [GRACE]),
  readygone: lives(
    [`${shell(`trap 'sleep 3; exit 0' TERM; while :; do sleep 0.2; done`)}, readinessProbe: ${exec('true')}`],
    [],
    [gone(10)],
  ),
  sidejob: lives(
    [shell('sleep 4')],
    [inits(`${STAY}, restartPolicy: Always, startupProbe: ${exec('true')}`), 'restartPolicy: Never'],
  ),
  sidecrash: lives(
    [shell('sleep 20')],
    [inits(`${shell('sleep 1; exit 1')}, restartPolicy: Always`), 'restartPolicy: Never'],
  ),
  sideslow: lives(
    [STAY],
    [inits(`${BEGAN}, restartPolicy: Always, startupProbe: ${exec(after(4))}, readinessProbe: ${exec(after(6))}`)],
    [gone(25)],
  ),
  sideorder: lives(
    [STAY],
    [
      inits(`${STAY}, restartPolicy: Always`, `${STAY}, restartPolicy: Always`, `${STAY}, restartPolicy: Always`),
      GRACE,
    ],
    [gone(10)],
  ),
  sidestubborn: lives([STUBBORN], [inits(`${STUBBORN}, restartPolicy: Always`), GRACE], [gone(10)]),
  sidelive: lives([STAY], [inits(`${BEGAN}, restartPolicy: Always, livenessProbe: ${exec(`! ${after(4)}`)}`), GRACE]),
  deadlined: lives([STAY], ['activeDeadlineSeconds: 6']),
  deadlineinit: lives([STAY], [inits(STAY), 'activeDeadlineSeconds: 5', 'restartPolicy: Never', GRACE]),
  deadlinecrash: lives([shell('exit 1')], ['activeDeadlineSeconds: 15']),
  rules: lives(
    [
      `${shell(`echo x >> /e/n; test $(wc -l < /e/n) -gt 2 || exit 42`)}, volumeMounts: [{name: e, mountPath: /e}], restartPolicy: Never, restartPolicyRules: [{action: Restart, exitCodes: {operator: In, values: [42]}}]`,
    ],
    [COUNT, 'restartPolicy: Never'],
  ),
  rulesnotin: lives(
    [
      `${shell('exit 3')}, restartPolicy: Never, restartPolicyRules: [{action: Restart, exitCodes: {operator: NotIn, values: [3]}}]`,
      shell('sleep 5'),
    ],
    ['restartPolicy: Never'],
  ),
  ownpolicy: lives([
    `${shell('exit 0')}, restartPolicy: OnFailure`,
    `${shell('exit 1')}, restartPolicy: OnFailure`,
    STAY,
  ]),
  initpolicy: lives([STAY], [inits(`${failing(1)}, restartPolicy: OnFailure`), COUNT, 'restartPolicy: Never']),
  initfinal: lives([STAY], [inits(`${shell('exit 1')}, restartPolicy: Never`)]),
  pullfails: { containers: ['{ name: a, image: "localhost:1/none:1" }'], later: [gone(60)] },
  pullhangs: { containers: ['{ name: a, image: "198.51.100.1:5000/none:1" }'], later: [gone(12)] },
  pullinit: {
    containers: [`{ name: a, ${IMAGE}, ${STAY} }`],
    spec: ['initContainers: [{ name: i, image: "localhost:1/none:1" }]'],
    later: [gone(30)],
  },
  changed: {
    ...lives([STAY, STAY]),
    later: [{ seconds: 10, parts: lives([STAY, STUBBORN], [GRACE]) }],
  },
  changedenv: {
    ...lives([`${STAY}`]),
    later: [{ seconds: 10, parts: lives([`${STAY}, env: [{name: A, value: b}]`]) }],
  },
  labelled: {
    ...lives([STAY]),
    later: [{ seconds: 10, parts: { ...lives([STAY]), meta: ['labels: {new: label}'] } }],
  },
  back: { ...lives([STAY], [GRACE]), later: [gone(8), { seconds: 16, parts: lives([STAY], [GRACE]) }] },
  backsoon: { ...lives([STUBBORN], [GRACE]), later: [gone(8), { seconds: 9, parts: lives([STUBBORN], [GRACE]) }] },
};

export const RESIZED_PODS: Record<string, Life> = {
  cpumore: resized('{limits: {cpu: 20m}}', [[10, '{limits: {cpu: 40m}}']]),
  cpuless: resized('{requests: {cpu: 40m}, limits: {cpu: 80m}}', [[10, '{requests: {cpu: 20m}, limits: {cpu: 60m}}']]),
  memmore: resized('{requests: {memory: 16Mi}, limits: {memory: 32Mi}}', [
    [10, '{requests: {memory: 16Mi}, limits: {memory: 64Mi}}'],
  ]),
  memless: resized('{requests: {memory: 16Mi}, limits: {memory: 64Mi}}', [
    [10, '{requests: {memory: 16Mi}, limits: {memory: 32Mi}}'],
  ]),
  memtiny: resized('{requests: {memory: 8Ki}, limits: {memory: 64Mi}}', [
    [10, '{requests: {memory: 8Ki}, limits: {memory: 16Ki}}'],
    [25, '{requests: {memory: 8Ki}, limits: {memory: 48Mi}}'],
  ]),
  memrestart: resized('{limits: {memory: 32Mi}}', [[10, '{limits: {memory: 64Mi}}']], RESTARTS('memory')),
  cpurestart: resized(
    '{limits: {cpu: 20m, memory: 32Mi}}',
    [[10, '{limits: {cpu: 40m, memory: 32Mi}}']],
    RESTARTS('cpu'),
  ),
  bothpolicies: resized(
    '{limits: {cpu: 20m, memory: 32Mi}}',
    [[10, '{limits: {cpu: 40m, memory: 64Mi}}']],
    RESTARTS('memory'),
  ),
  addlimit: resized('{requests: {cpu: 20m}}', [[10, '{requests: {cpu: 20m}, limits: {cpu: 100m}}']]),
  addmemory: resized('{requests: {cpu: 20m}}', [[10, '{requests: {cpu: 20m, memory: 16Mi}, limits: {memory: 64Mi}}']]),
  addrequest: resized('{limits: {cpu: 40m}, requests: {cpu: 20m}}', [
    [10, '{limits: {cpu: 40m}, requests: {cpu: 20m, memory: 32Mi}}'],
  ]),
  addrestart: resized(
    '{requests: {cpu: 20m}}',
    [[10, '{requests: {cpu: 20m}, limits: {memory: 64Mi}}']],
    RESTARTS('memory'),
  ),
  addtobest: resized('{}', [[10, '{requests: {cpu: 20m}}']]),
  removelimit: resized('{requests: {cpu: 20m}, limits: {cpu: 40m}}', [[10, '{requests: {cpu: 20m}}']]),
  toomuch: resized('{requests: {cpu: 20m}}', [
    [10, '{requests: {cpu: "500"}}'],
    [25, '{requests: {cpu: 30m}}'],
  ]),
  toomuchback: resized('{requests: {cpu: 20m}}', [
    [10, '{requests: {cpu: "500"}}'],
    [25, '{requests: {cpu: 20m}}'],
  ]),
  twice: resized('{requests: {cpu: 20m}}', [
    [10, '{requests: {cpu: 30m}}'],
    [11, '{requests: {cpu: 40m}}'],
  ]),
  two: {
    ...lives([`${STAY}, resources: {limits: {cpu: 20m}}`, `${STAY}, resources: {limits: {cpu: 60m}}`]),
    later: [
      {
        seconds: 10,
        parts: lives([`${STAY}, resources: {limits: {cpu: 60m}}`, `${STAY}, resources: {limits: {cpu: 20m}}`]),
      },
    ],
  },
  sidecar: {
    ...lives([STAY], [inits(`${STAY}, restartPolicy: Always, resources: {requests: {cpu: 10m}}`)]),
    later: [
      {
        seconds: 10,
        parts: lives([STAY], [inits(`${STAY}, restartPolicy: Always, resources: {requests: {cpu: 16m}}`)]),
      },
    ],
  },
  init: {
    ...lives([STAY], [inits(`${STAY}, resources: {requests: {cpu: 10m}}`)]),
    later: [{ seconds: 10, parts: lives([STAY], [inits(`${STAY}, resources: {requests: {cpu: 16m}}`)]) }],
  },
  crashing: {
    ...lives([`${shell('exit 1')}, resources: {requests: {cpu: 10m}}`]),
    later: [{ seconds: 10, parts: lives([`${shell('exit 1')}, resources: {requests: {cpu: 16m}}`]) }],
  },
  podmore: podResized(
    ['resources: {limits: {cpu: 40m, memory: 64Mi}}'],
    ['resources: {limits: {cpu: 80m, memory: 96Mi}}'],
  ),
  podless: podResized(
    ['resources: {limits: {cpu: 80m, memory: 96Mi}}'],
    ['resources: {limits: {cpu: 40m, memory: 64Mi}}'],
  ),
  podrequests: podResized(
    ['resources: {requests: {cpu: 20m}, limits: {cpu: 80m}}'],
    ['resources: {requests: {cpu: 40m}, limits: {cpu: 80m}}'],
    ', resources: {requests: {cpu: 10m}, limits: {cpu: 60m}}',
  ),
  podadd: podResized(
    ['resources: {requests: {cpu: 20m}}'],
    ['resources: {requests: {cpu: 20m}, limits: {memory: 64Mi}}'],
  ),
  podaddnew: podResized(
    ['priority: 0'],
    ['priority: 0', 'resources: {requests: {cpu: 20m}}'],
    ', resources: {requests: {cpu: 10m}}',
  ),
  podrestart: podResized(
    ['resources: {limits: {cpu: 40m, memory: 64Mi}}'],
    ['resources: {limits: {cpu: 40m, memory: 96Mi}}'],
    RESTARTS('memory'),
  ),
  podboth: {
    ...lives([`${STAY}, resources: {requests: {cpu: 10m}}`], ['resources: {requests: {cpu: 20m}, limits: {cpu: 80m}}']),
    later: [
      {
        seconds: 10,
        parts: lives(
          [`${STAY}, resources: {requests: {cpu: 16m}}`],
          ['resources: {requests: {cpu: 30m}, limits: {cpu: 60m}}'],
        ),
      },
    ],
  },
};
