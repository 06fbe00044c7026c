/** The page shown without a session, which explains how to get a new link. */
export function SignedOut() {
  return (
    <main class="signed-out">
      <h1>Podwright</h1>
      <p>This page needs a new link: a link works once, and a session ends with the command that began it.</p>
      <ol>
        <li>
          In the terminal of <code>podwright dashboard</code>, press Enter. It prints another link.
        </li>
        <li>If the command has ended, start it again.</li>
        <li>Open the link here.</li>
      </ol>
    </main>
  );
}
