/**
 * Which addresses `fetch` goes to, and which redirects it follows.
 *
 * @module
 */
import { FileProblem } from "./file_problem.ts";

/** Redirects that are followed. */
const MAX_REDIRECTS = 5;

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** Checks an address. Returns it as it is written out, or what is wrong with it. */
export function checkUrl(written: string): { readonly url: URL } | { readonly error: string } {
  if (!URL.canParse(written.trim())) {
    return { error: "has to be a whole URL, such as https://example.com/page" };
  }
  const url = new URL(written.trim());
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    return { error: `has to begin with http:// or https://, not ${url.protocol}` };
  }
  // A name and a password would go to whoever answers, and into the conversation.
  if (url.username !== "" || url.password !== "") {
    return { error: "must not hold a user name or a password" };
  }
  return { url };
}

/** Where a request ended up. */
export interface Followed {
  readonly response: Response;
  /** The address that answered. */
  readonly url: string;
  /** Another host to which it was redirected, not followed. */
  readonly elsewhere?: string;
}

/**
 * Asks an address, following redirects inside its own host. Another host is another decision: who
 * allowed the first address has not seen it, and it may stand inside a private network.
 *
 * @throws {FileProblem} when there are too many redirects, or one leads to no web page.
 */
export async function followRedirects(
  from: string,
  options: { readonly headers: Readonly<Record<string, string>>; readonly signal: AbortSignal },
): Promise<Followed> {
  let url = new URL(from);
  for (let redirects = 0;; redirects++) {
    const response = await fetch(url, {
      headers: { ...options.headers },
      signal: options.signal,
      redirect: "manual",
      credentials: "omit",
    });
    const location = response.headers.get("location");
    if (!REDIRECTS.has(response.status) || location === null) return { response, url: url.href };
    const next = checkUrl(URL.canParse(location, url) ? new URL(location, url).href : location);
    if ("error" in next) {
      await response.body?.cancel();
      throw new FileProblem(`Cannot follow "${url.href}" to "${location}": the URL ${next.error}`);
    }
    if (!sameHost(url, next.url)) {
      return { response, url: url.href, elsewhere: next.url.href };
    }
    await response.body?.cancel();
    if (redirects === MAX_REDIRECTS) {
      throw new FileProblem(`Cannot get "${from}": it redirects more than ${MAX_REDIRECTS} times`);
    }
    url = next.url;
  }
}

/** With or without `www.`, and from http to https on the usual ports, a host is the same. */
function sameHost(from: URL, to: URL): boolean {
  const name = (url: URL) => url.hostname.replace(/^www\./u, "");
  if (name(from) !== name(to)) return false;
  if (from.port === to.port) return from.protocol === to.protocol || to.protocol === "https:";
  return false;
}
