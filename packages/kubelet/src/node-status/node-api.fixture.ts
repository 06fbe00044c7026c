import type { TestContext } from 'node:test';
import type { KubeObject, Node, NodeAddress, NodeCondition, NodeStatus, Resource } from '@podwright/kube-api';
import type { ObjectKey, PatchType } from '@podwright/kube-client';
import { FakeKubeClient } from '@podwright/kube-client/testing';

type PatchBody = { status?: Omit<NodeStatus, 'addresses'> & { addresses?: (NodeAddress | { $patch: string })[] } };

/** A fake API server that applies node patches like a real one. */
export class NodeApi extends FakeKubeClient {
  readonly patches: PatchBody[] = [];

  override patch<T extends KubeObject>(
    resource: Resource,
    place: ObjectKey,
    patch: { type: PatchType; body: unknown; subresource?: string },
  ): Promise<T> {
    const body = patch.body as PatchBody;
    this.patches.push(body);
    const { status } = this.stored<Node>(resource, place) ?? {};
    const {
      addresses,
      conditions,
      '$setElementOrder/conditions': _,
      ...rest
    } = (body.status ?? {}) as Record<string, object[]>;
    const merged = {
      ...rest,
      ...(addresses === undefined ? {} : { addresses: addresses.filter((one) => !('$patch' in one)) }),
      ...(conditions === undefined ? {} : { conditions: mergedConditions(status?.conditions, conditions) }),
    };
    return super.patch(resource, place, { ...patch, body: { ...body, status: merged } });
  }
}

function mergedConditions(known: NodeCondition[] = [], patches: Partial<NodeCondition>[]): Partial<NodeCondition>[] {
  const changed = known.map((one) => ({ ...one, ...patches.find(({ type }) => type === one.type) }));
  return [...changed, ...patches.filter(({ type }) => !known.some((one) => one.type === type))];
}

/** Mocks time and Math.random. `pass` advances time in steps of 10 ms (1 s for a minute or more), and runs pending work after each step. */
export function mockTime(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: Date.parse('2026-11-23T10:00:00Z') });
  const beganAtMs = Date.now();
  t.mock.method(performance, 'now', () => Date.now() - beganAtMs);
  t.mock.method(Math, 'random', () => 0.5);
  const turn = async () => {
    for (let times = 0; times < 5; times++) await new Promise((resolve) => setImmediate(resolve));
  };
  const pass = async (milliseconds: number) => {
    await turn();
    const stepMs = milliseconds >= 60_000 ? 1000 : 10;
    for (let left = milliseconds; left > 0; left -= stepMs) {
      t.mock.timers.tick(Math.min(stepMs, left));
      await turn();
    }
  };
  return { pass, nowMs: () => performance.now() };
}

/** An event recorder that records only the reasons of the emitted events. */
export function eventReasons() {
  const reasons: string[] = [];
  const event = (_about: unknown, _type: unknown, reason: string) => void reasons.push(reason);
  return { reasons, event };
}
