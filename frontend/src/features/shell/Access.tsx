/** What stands in the place of a page for who may not see it, as one piece of code that comes late. */
export { NoRole, RoleTooLow } from "./NoRole.tsx";
export { SignedOutPage } from "./SignedOut.tsx";
export { SignInHere, SignInPage } from "./SignIn.tsx";
