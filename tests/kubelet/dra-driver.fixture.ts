import { readdirSync } from 'node:fs';
import { HealthStatus } from '@podwright/placement/dra-health-api';
import type { ClaimPlan } from './dra-driver.ts';
import { PluginUnderTest } from './plugin-process.fixture.ts';

/** A DRA driver in its own process; `data` has the CDI specifications of prepared claims. */
export class DraDriverUnderTest extends PluginUnderTest {
  protected readonly program = new URL('./dra-driver.ts', import.meta.url).pathname;

  /** Plans for later claims by their names; for other claims it prepares one device. */
  plan(plans: Record<string, ClaimPlan>): Promise<void> {
    return this.send({ plans });
  }

  /** Makes the driver report the health of a device. */
  async health(device: string, health: 'HEALTHY' | 'UNHEALTHY', message = ''): Promise<void> {
    const identifier = { poolName: 'pool', deviceName: device };
    await this.send({ health: [{ device: identifier, health: HealthStatus[health], message }] });
  }

  /** The calls about claims, in order, with the names of the claims. */
  async claimCalls(): Promise<string[]> {
    return (await this.allCalls()).flatMap(({ call, request }) => {
      const claims = (request.claims ?? []) as { name: string }[];
      return call.endsWith('Resources') ? [`${call} ${claims.map(({ name }) => name).join()}`] : [];
    });
  }

  /** Names of the existing CDI specifications. */
  specifications(): string[] {
    return readdirSync(this.data);
  }
}
