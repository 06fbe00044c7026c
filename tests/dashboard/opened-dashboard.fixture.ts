/** `podwright dashboard` in front of a real node, opened in a real browser. */
import { stripVTControlCharacters } from 'node:util';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import type { NodePlace } from '../pods/node.fixture.ts';
import type { StartedProgram } from '../pods/started-program.ts';

const LINK = /^(http:\/\/\S+\/#token=\S+)$/gm;

/** Starts Debian's Chromium, or the binary in PODWRIGHT_TEST_CHROMIUM, in which names under `attacker.example` resolve to this host. */
export function startBrowser(): Promise<Browser> {
  const executablePath = process.env.PODWRIGHT_TEST_CHROMIUM ?? '/usr/bin/chromium';
  // the tests run as root, for which Chromium does not support sandboxing
  const args = ['--no-sandbox', '--disable-dev-shm-usage', '--host-resolver-rules=MAP *.attacker.example 127.0.0.1'];
  return chromium.launch({ executablePath, args });
}

/** A running `podwright dashboard` and the links it has printed. */
export class OpenedDashboard {
  readonly program: StartedProgram;
  readonly #place: NodePlace;
  #links = 0;

  static async start(place: NodePlace, ...args: string[]): Promise<OpenedDashboard> {
    const opened = new OpenedDashboard(place, place.start('dashboard', ...args));
    await opened.#until(1);
    return opened;
  }

  constructor(place: NodePlace, program: StartedProgram) {
    this.#place = place;
    this.program = program;
  }

  /** Returns a link that has not been opened yet. */
  async link(): Promise<string> {
    if (this.#links > 0) this.program.child.stdin!.write('\n');
    this.#links++;
    await this.#until(this.#links);
    return this.#printed()[this.#links - 1]!;
  }

  /** The dashboard's origin, of the form `http://127.0.0.1:PORT`. */
  get origin(): string {
    return new URL(this.#printed()[0]!).origin;
  }

  /** Opens the dashboard's page in a new tab, with a new session. */
  async open(context: BrowserContext): Promise<OpenedPage> {
    const page = await context.newPage();
    const opened = new OpenedPage(page);
    await page.goto(await this.link());
    await page.getByRole('main').waitFor();
    return opened;
  }

  /** Interrupts `podwright dashboard`. Throws if it does not exit with 0. */
  async stop(): Promise<void> {
    this.program.child.kill('SIGINT');
    const { code, err } = await this.program.ended();
    if (code !== 0) throw new Error(`podwright dashboard: exit code ${code}: ${err}`);
  }

  /** Waits until `podwright dashboard` has printed this many links. Throws if it exits first. */
  async #until(links: number): Promise<void> {
    const { child } = this.program;
    await this.#place.until(() => this.#printed().length >= links || child.exitCode !== null, 30_000);
    if (child.exitCode !== null) throw new Error(`podwright dashboard: ${this.program.err}`);
  }

  #printed(): string[] {
    return [...stripVTControlCharacters(this.program.out).matchAll(LINK)].map(([, link]) => link!);
  }
}

/** A tab that shows the page. It records everything that the page must not do. */
export class OpenedPage {
  readonly tab: Page;
  /** Uncaught errors, Content Security Policy violations, dialogs, popups, and requests to other origins. */
  readonly problems: string[] = [];

  constructor(tab: Page) {
    this.tab = tab;
    tab.on('pageerror', (error) => this.problems.push(`uncaught: ${error.message}`));
    tab.on('dialog', (dialog) => {
      this.problems.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    tab.on('console', (message) => {
      if (/Content Security Policy|TrustedHTML|Refused to/.test(message.text())) this.problems.push(message.text());
    });
    tab.on('popup', (popup) => this.problems.push(`popup: ${popup.url()}`));
    tab.on('request', (request) => {
      const { origin } = new URL(tab.url());
      if (!request.isNavigationRequest() && new URL(request.url()).origin !== origin)
        this.problems.push(`request: ${request.url()}`);
    });
  }

  /** Navigates to a fragment of the page, such as `/pods/default/web`. */
  async show(place: string): Promise<void> {
    await this.tab.goto(`${new URL(this.tab.url()).origin}/#${place}`);
  }

  async close(): Promise<void> {
    await this.tab.close();
  }
}
