import { readdirSync } from 'node:fs';
import { HealthStatus } from '@podwright/placement/dra-health-api';
import type { ClaimPlan } from './dra-driver.ts';
import { PluginUnderTest } from './plugin-process.fixture.ts';

/** A DRA driver in a separate process; `data` contains the CDI specs of prepared claims. */
export class DraDriverUnderTest extends PluginUnderTest {
  protected readonly program = new URL('./dra-driver.ts', import.meta.url).pathname;

  /** Sets the plans for later claims, by claim name. For all other claims, the driver prepares one device. */
  plan(plans: Record<string, ClaimPlan>): Promise<void> {
    return this.send({ plans });
  }

  async health(device: string, health: 'HEALTHY' | 'UNHEALTHY', message = ''): Promise<void> {
    const identifier = { poolName: 'pool', deviceName: device };
    await this.send({ health: [{ device: identifier, health: HealthStatus[health], message }] });
  }

  /** Returns the claim calls in order, with the claims' names. */
  async claimCalls(): Promise<string[]> {
    return (await this.allCalls()).flatMap(({ call, request }) => {
      const claims = (request.claims ?? []) as { name: string }[];
      return call.endsWith('Resources') ? [`${call} ${claims.map(({ name }) => name).join()}`] : [];
    });
  }

  /** Returns the names of the CDI spec files that the driver has written and not removed. */
  specifications(): string[] {
    return readdirSync(this.data);
  }
}
