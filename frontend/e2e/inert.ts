// What nothing that others wrote may do to a page: run, become a link, or show as what it is not.
import type { Page } from "@playwright/test";

/** Markup, a template and an address that would run, were it taken for one. */
export const markup = `<script>alert(1)</script><img src=x onerror=alert(2)>{{constructor.constructor('alert(3)')()}}`;

/** Characters that cannot be seen: one turns the text round, the others hide in a word. */
export const unseen = "a\u202eb\u200bc\u2066d\u200de\u061cf";

/** All that is wrong with what the page shows now. */
export async function offences(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const hidden = /[\p{Cc}\p{Bidi_C}\p{DI}\u2028\u2029]/u;
    const harmless = /[\n\t]/g;
    const wrong: string[] = [];
    const disguised = (text: string) => hidden.test(text.replace(harmless, ""));
    if (disguised(document.title)) wrong.push(`the title of the document: ${JSON.stringify(document.title)}`);
    for (const element of document.querySelectorAll("*")) {
      const name = element.localName;
      if (["img", "iframe", "object", "embed", "base", "video", "audio"].includes(name))
        wrong.push(`<${name}>`);
      if (name === "script" && !element.hasAttribute("src")) wrong.push("a script without a source");
      for (const attribute of element.attributes) {
        if (attribute.name.startsWith("on")) wrong.push(`${name} has ${attribute.name}`);
        if (attribute.name === "title" && disguised(attribute.value)) {
          wrong.push(`the tooltip of ${name}: ${JSON.stringify(attribute.value)}`);
        }
      }
      if (element instanceof HTMLAnchorElement && element.hasAttribute("href")) {
        const ours = element.origin === location.origin || element.hostname === "traces.example.com";
        if (!ours || !/^https?:$/.test(element.protocol)) wrong.push(`a link to ${element.href}`);
      }
    }
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = texts.nextNode(); node; node = texts.nextNode()) {
      const at = node.parentElement;
      // A box names the character in it; what is typed is the browser's to show.
      if (!at || at.closest("[data-glyph], [data-paint], textarea, script")) continue;
      if (disguised(node.nodeValue ?? "")) wrong.push(`text in ${at.outerHTML.slice(0, 200)}`);
    }
    return wrong;
  });
}
