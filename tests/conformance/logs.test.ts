import { logsSuite } from './logs.suite.ts';
import { openers } from './runtimes.fixture.ts';

const { ours, containerd } = openers('log');
logsSuite('our runtime', ours);
logsSuite('containerd 1.6', containerd, { losesAtRotation: true });
