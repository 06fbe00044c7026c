/** The pages of `podwright dashboard` on small and large screens, in both color schemes, and for assistive technology. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { DashboardPlace } from './dashboard-place.fixture.ts';
import { configMap, pod, service, together } from './manifests.fixture.ts';

let place: DashboardPlace;
before(async () => {
  place = await DashboardPlace.start(
    '10.172.244.0/24',
    together(
      pod({ name: 'crash', script: 'echo no database >&2; exit 3' }),
      pod({ name: 'steady', script: 'while :; do echo hello; sleep 1; done', metadata: 'labels: {app: steady}' }),
      configMap('settings', '{colour: blue}'),
      service('steady', 'steady'),
    ),
  );
});
after(() => place.stop());

/** URL fragments of all pages, with functions that wait until the page has fully loaded. */
const PLACES: Record<string, (tab: Page) => Promise<void>> = {
  '/': (tab) => tab.getByRole('link', { name: 'default/crash' }).waitFor(),
  '/pods/default/crash': (tab) => tab.getByRole('heading', { name: /What is wrong/ }).waitFor(),
  '/pods/default/steady/logs': (tab) => tab.getByRole('log').getByText('hello').first().waitFor(),
  '/pods/default/steady/yaml': (tab) => tab.getByRole('textbox', { name: /YAML/ }).waitFor(),
  '/pods/default/steady/terminal': (tab) => tab.locator('.xterm-rows').getByText('#').first().waitFor(),
  '/workloads': (tab) => tab.getByRole('main').getByRole('link').first().waitFor(),
  '/services': (tab) => tab.getByRole('main').getByRole('link').first().waitFor(),
  '/object/v1/services/default/steady': (tab) => tab.getByRole('button', { name: 'Try port 80' }).waitFor(),
  '/list/v1/configmaps': (tab) => tab.getByRole('link', { name: 'settings' }).waitFor(),
  '/images': (tab) => tab.getByText('busybox').first().waitFor(),
  '/events': (tab) => tab.getByText('BackOff').first().waitFor(),
};

/** The axe-core rules checked in the light and in the dark color scheme. */
const RULES = {
  light: { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'] },
  dark: { type: 'rule', values: ['color-contrast'] }, // other rules do not depend on colours
};

for (const colorScheme of ['light', 'dark'] as const)
  test(`every page is accessible in ${colorScheme} colours`, async () => {
    const page = await place.open({ colorScheme, viewport: { width: 1280, height: 800 } });
    for (const [where, isComplete] of Object.entries(PLACES)) {
      await page.show(where);
      await isComplete(page.tab);
      await page.tab.evaluate(axe.source);
      const options = { runOnly: RULES[colorScheme] };
      const { violations } = (await page.tab.evaluate(`axe.run(${JSON.stringify(options)})`)) as axe.AxeResults;
      const found = violations.map(
        ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 150)).join(' | ')}`,
      );
      assert.deepEqual(found, [], `${where} ${colorScheme}`);
    }
    assert.deepEqual(page.problems, []);
    await page.close();
  });

for (const width of [360, 3840])
  test(`no page is wider than a screen of ${width} pixels`, async () => {
    const page = await place.open({ viewport: { width, height: 740 } });
    for (const [where, isComplete] of Object.entries(PLACES)) {
      await page.show(where);
      await isComplete(page.tab);
      const wide = await page.tab.evaluate('document.scrollingElement.scrollWidth');
      assert.ok(Number(wide) <= width, `${where} is ${wide} pixels wide`);
    }
    await page.close();
  });
