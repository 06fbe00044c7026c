/** Takes the screenshots for docs/dashboard.md with a real node and a real browser: `node tests/dashboard/pictures.ts`. Requires root. */
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { DashboardPlace } from './dashboard-place.fixture.ts';
import { configMap, pod, service, together } from './manifests.fixture.ts';
import type { OpenedPage } from './opened-dashboard.fixture.ts';

const DOCS = join(import.meta.dirname, '../../docs');
const WIDTH = 1100;

type Picture = {
  file: string;
  height: number;
  colorScheme: 'light' | 'dark';
  place: string;
  isComplete: (tab: Page) => Promise<void>;
};

const PICTURES: Picture[] = [
  {
    file: 'dashboard.png',
    height: 640,
    colorScheme: 'light',
    place: '/',
    isComplete: async (tab) => {
      await tab.getByText('cannot connect to postgres').first().waitFor();
      await tab.getByText(/[1-9]\d* % of \d+ cores/).waitFor();
    },
  },
  {
    file: 'dashboard-pod.png',
    height: 1120,
    colorScheme: 'dark',
    place: '/pods/default/shop',
    isComplete: (tab) => tab.getByText('run sandbox').first().waitFor(),
  },
];

const place = await DashboardPlace.start(
  '10.172.247.0/24',
  together(
    pod({ name: 'worker', script: 'echo starting; echo cannot connect to postgres at db:5432 >&2; exit 3' }),
    pod({ name: 'shop', metadata: 'labels: {app: shop}' }),
    pod({ name: 'mail' }),
    configMap('settings', '{colour: blue}'),
    service('shop', 'shop'),
  ),
);
try {
  for (const picture of PICTURES) await take(picture);
} finally {
  await place.stop();
}

async function take({ file, height, colorScheme, place: where, isComplete }: Picture): Promise<void> {
  const page: OpenedPage = await place.open({ colorScheme, viewport: { width: WIDTH, height } });
  await page.show(where);
  await isComplete(page.tab);
  // hides the kernel and distribution of the machine that takes the screenshots
  await page.tab.evaluate("document.querySelectorAll('.node-line > .faint').forEach((one) => { one.hidden = true; })");
  await page.tab.screenshot({ path: join(DOCS, file) });
  await page.close();
}
