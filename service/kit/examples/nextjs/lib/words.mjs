// The words of the page. `null` means "not checked", such as a QR code: it never means that a product is fake.

const verdicts = new Map([
  [true, { look: "good", title: "Genuine", text: "This tap came from the original tag of this product." }],
  [
    false,
    {
      look: "warning",
      title: "Not verified",
      text: "This address was opened before, or it may be a copy. Tap the tag on your product again. If you see this once more, please contact us.",
    },
  ],
  [
    null,
    {
      look: "",
      title: "Not checked",
      text: "This code leads to the product, but it cannot prove where it comes from. If your product has a tag, tap it.",
    },
  ],
]);

const reasons = {
  none: { look: "", title: "Tap your product", text: "Hold your phone to the tag to open this page." },
  expired: { look: "", title: "Time is up", text: "A tap is valid for five minutes. Tap the tag again." },
  unreachable: { look: "", title: "No connection", text: "We could not check your tap. Please try again." },
};

export const verdictOf = ({ reason, verified }) => (reason === "ok" ? verdicts.get(verified) : reasons[reason]);

const answers = {
  saved: "Registered. Thank you.",
  used: "This tap has registered the product already. To change it, tap the tag again.",
  expired: "Five minutes have passed. Tap the tag again, then register.",
  unknown_variable: "This product cannot be registered yet. Please contact us.",
  unreachable: "No connection. Please register again: nothing is stored twice.",
  invalid: "Enter a name of at most 200 characters.",
};

/** Addresses can be changed, so only the reasons above have an answer. */
export const answerOf = (reason) => (Object.hasOwn(answers, reason) ? answers[reason] : null);
