import { configure } from "@testing-library/react";

// A busy machine takes its time for the parts that are loaded when they are needed.
configure({ asyncUtilTimeout: 10_000 });
