export { type CriMethod, type FakeCall, FakeRuntime, type Fault } from './fake-runtime.ts';
export type { FakeExec } from './fake-runtime-service.ts';
export type { FakeContainer, FakeSandbox } from './fake-store.ts';
